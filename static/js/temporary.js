// @ts-check
/**
 * A temporary chat on the page. The process holds it, by this page's socket (docs/protocol.md), so the page keeps
 * nothing of it either: no draft, no message to be sent again, and what the panel shows only as long as the page lives.
 *
 * @typedef {import("./connection.js").Frame} Frame
 */

import { keep } from "./connection.js";

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const LONGEST_TEXT = 20_000; // characters: a longer frame would close the socket, and with it the chat
const GONE = "The temporary chat is gone; nothing of it was kept.";

export class Temporary {
  /** Its name on the socket; "" until its first message is accepted. */ id = "";
  /** @type {Frame | null} the message that is not accepted yet */ pending = null;
  /** @type {Map<number, string>} what the panel shows of each answer */ #panels = new Map();
  #wasBegun = `recall-temporary-${$("chat").dataset.user}`;
  #isGone = false;

  /** @param {() => unknown} changed told when the switch is turned */
  constructor(changed) {
    $("temporary")?.addEventListener("change", () => {
      this.#show();
      changed();
    });
    if (sessionStorage.getItem(this.#wasBegun)) this.#tell(GONE);
    keep(this.#wasBegun, "");
    this.#show();
  }

  /** Whether what is written now goes into a temporary chat. */
  get isOn() {
    return Boolean($("temporary")?.checked);
  }

  /** What is to be sent, and what it is to be sent as. @param {string} clientId @param {Frame | object} what */
  frame(clientId, what) {
    this.pending = { type: "temporary", client_id: clientId, memory: $("temporary-memory").checked, ...what };
    return this.pending;
  }

  /** @param {string} text @returns {string} why this cannot be sent; "" if it can */
  refusal(text) {
    if (this.#isGone) return `${GONE} Begin another one.`;
    return text.length > LONGEST_TEXT ? "A message of a temporary chat has at most 20,000 characters." : "";
  }

  /** @param {string | undefined} clientId @returns {Frame | null} the message that needs no sending any more */
  settle(clientId) {
    const settled = this.pending?.client_id === clientId ? this.pending : null;
    if (settled) this.pending = null;
    return settled;
  }

  /** The first message was accepted. @param {string} id */
  begin(id) {
    if (this.id) return;
    this.id = id;
    keep(this.#wasBegun, "begun");
    this.#show();
  }

  /** The page shows a stored conversation from now on. */
  leave() {
    $("temporary-choice")?.remove();
    delete $("chat").dataset.temporary;
  }

  /** The socket is lost, and the chat with it. */
  end() {
    if (!this.id || this.#isGone) return;
    this.#isGone = true;
    this.pending = null;
    keep(this.#wasBegun, "");
    this.#tell(GONE);
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
    if (!choice) return;
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
  #tell(sentence) {
    const notice = Object.assign(document.createElement("p"), { className: "notice", textContent: sentence });
    $("notices").replaceChildren(notice);
  }
}
