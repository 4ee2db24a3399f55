// @ts-check
/**
 * A temporary chat. The server process holds it for this page's socket (docs/protocol.md). The page stores nothing
 * either: no draft, no unsent message; the context panels live as long as the page.
 *
 * @typedef {import("./connection.js").Frame} Frame
 */

import { store } from "./connection.js";

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const LONGEST_TEXT = 20_000; // characters: a longer frame would close the socket, and with it the chat
const GONE = "The temporary chat has ended. Nothing was saved.";

export class Temporary {
  /** Its id on the socket; "" until its first message is accepted. */ id = "";
  /** @type {Frame | null} the message that isn't accepted yet */ pending = null;
  /** @type {Map<number, string>} the context panel of each answer */ #panels = new Map();
  #storageKey = `recall-temporary-${$("chat").dataset.user}`;
  #isGone = false;

  /** @param {() => unknown} changed called when the switch changes */
  constructor(changed) {
    $("temporary").addEventListener("change", () => {
      this.#show();
      changed();
    });
    if (sessionStorage.getItem(this.#storageKey)) this.#notify(GONE);
    store(this.#storageKey, "");
    this.#show();
  }

  /** Whether the next message goes into a temporary chat. */
  get isOn() {
    return $("temporary").checked;
  }

  /** Build and remember the next frame. @param {string} clientId @param {Frame | object} what */
  frame(clientId, what) {
    this.pending = { type: "temporary", client_id: clientId, memory: $("temporary-memory").checked, ...what };
    return this.pending;
  }

  /** @param {string} text @returns {string} why this can't be sent; "" if it can */
  refusal(text) {
    if (this.#isGone) return `${GONE} Start a new one.`;
    return text.length > LONGEST_TEXT ? "Messages in temporary chats are limited to 20,000 characters." : "";
  }

  /** @param {string | undefined} clientId @returns {Frame | null} the message that was accepted */
  settle(clientId) {
    const settled = this.pending?.client_id === clientId ? this.pending : null;
    if (settled) this.pending = null;
    return settled;
  }

  /** The first message was accepted. @param {string} id */
  begin(id) {
    if (this.id) return;
    this.id = id;
    store(this.#storageKey, "begun");
    this.#show();
  }

  /** Only a new conversation can become temporary. @param {boolean} isNew */
  offer(isNew) {
    $("temporary-choice").hidden = !isNew;
  }

  /** The socket is lost, and the chat with it. */
  end() {
    if (!this.id || this.#isGone) return;
    this.#isGone = true;
    this.pending = null;
    store(this.#storageKey, "");
    this.#notify(GONE);
    this.#show();
  }

  /** @param {number} message @param {string} html */
  keepPanel(message, html) {
    this.#panels.set(message, html);
  }

  /** @param {number | string} message @returns {string | undefined} */
  panel(message) {
    return this.#panels.get(Number(message));
  }

  #show() {
    const [choice, chat] = [$("temporary-choice"), $("chat")];
    if (choice.hidden) return;
    const state = this.#isGone ? "gone" : this.id ? "running" : this.isOn ? "chosen" : "off";
    chat.dataset.temporary = choice.dataset.state = state;
    $("temporary").disabled = Boolean(this.id);
    $("temporary-reads").hidden = !this.isOn || this.#isGone;
    $("temporary-hint").hidden = !this.isOn || this.#isGone;
    const heading = $("talk-header").querySelector("h1");
    heading.textContent = this.isOn ? "Temporary chat" : "New conversation";
    document.title = `${heading.textContent} · Recall`;
  }

  /** @param {string} sentence */
  #notify(sentence) {
    const notice = Object.assign(document.createElement("p"), { className: "notice", textContent: sentence });
    $("notices").replaceChildren(notice);
  }
}
