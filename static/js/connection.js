// @ts-check
/**
 * The WebSocket (docs/protocol.md): it reconnects, and keeps a list of unsent messages that survives a reload. A message is
 * unsent until `accepted` names its client id; sending it twice is harmless, since the server knows the id.
 *
 * @typedef {{type: string, [field: string]: any}} Frame
 * @typedef {"open" | "lost" | "signed_out"} State
 */

const FIRST_WAIT = 500; // ms before the first reconnect; doubled each time
const LONGEST_WAIT = 15_000;
const PING_EVERY = 25_000;
const ANSWER_WITHIN = 10_000; // ms after a ping; then the connection counts as dead, as after a laptop's sleep
const LONGEST_FRAME = 60_000; // bytes; the server closes the socket at 64 KiB
const LONGEST_TEXT = 20_000; // characters; longer messages go over HTTP
const USER = document.getElementById("chat")?.dataset.user; // someone else may sign in in another tab
const UNSENT = `recall-unsent-${USER}`;

export class Connection {
  /** @type {WebSocket | null} */ #socket = null;
  #isGreeted = false; // until its hello, whose socket it is isn't known
  #attempt = 0;
  #timer = 0;
  #waitingForAnswer = 0;
  #postUrl;
  #on;
  /** @type {Frame[]} */ unsent = JSON.parse(sessionStorage.getItem(UNSENT) ?? "[]");

  /**
   * @param {string} postUrl where long messages go
   * @param {{frame: (frame: Frame) => void, state: (state: State, wait: number) => void}} on
   */
  constructor(postUrl, on) {
    this.#postUrl = postUrl;
    this.#on = on;
    setInterval(() => this.#ping(), PING_EVERY);
    addEventListener("online", () => this.wake());
    addEventListener("pageshow", (event) => event.persisted && this.wake());
    document.addEventListener("visibilitychange", () => document.hidden || this.wake());
    this.#connect();
  }

  get isOpen() {
    return this.#isGreeted && this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Check the connection now. */
  wake() {
    if (!this.#socket) this.#connect();
    else this.#ping();
  }

  /** @param {Frame} frame one that may be lost: it is sent again after a reconnect */
  ask(frame) {
    if (this.isOpen) this.#socket?.send(JSON.stringify({ v: 1, ...frame }));
  }

  /** @param {Frame} frame one with a client id: stored until it is settled */
  send(frame) {
    this.unsent.push(frame);
    store(UNSENT, JSON.stringify(this.unsent));
    this.#transmit(frame);
  }

  /** @param {string} clientId @returns {Frame | undefined} the frame that was accepted or rejected */
  settle(clientId) {
    const settled = this.unsent.find((frame) => frame.client_id === clientId);
    this.unsent = this.unsent.filter((frame) => frame !== settled);
    store(UNSENT, this.unsent.length ? JSON.stringify(this.unsent) : "");
    return settled;
  }

  /** Resend everything unsent, after a reconnect or a failed save. */
  resend() {
    for (const frame of this.unsent) this.#transmit(frame);
  }

  #connect() {
    clearTimeout(this.#timer);
    const socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/chat`);
    this.#socket = socket;
    this.#isGreeted = false;
    socket.onmessage = (event) => {
      clearTimeout(this.#waitingForAnswer);
      this.#waitingForAnswer = 0;
      const frame = JSON.parse(event.data);
      if (frame.type === "hello") {
        if (USER && String(frame.user) !== USER) return this.#refuseUser(socket);
        this.#isGreeted = true;
        this.#attempt = 0;
        this.#on.state("open", 0);
      }
      this.#on.frame(frame);
    };
    socket.onclose = (event) => this.#socket === socket && this.#lost(event.code);
  }

  /** The socket has another user than the page, whose texts must not be sent in their name. @param {WebSocket} socket */
  #refuseUser(socket) {
    this.#socket = socket.onclose = socket.onmessage = null;
    socket.close();
    this.#on.state("signed_out", 0);
  }

  /** @param {number} code */
  #lost(code) {
    this.#socket = null;
    clearTimeout(this.#waitingForAnswer);
    this.#waitingForAnswer = 0;
    if (code === 4401) return this.#on.state("signed_out", 0);
    if (code === 1009) this.#refuse("The message is too long.", "too_long");
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#attempt++) * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => this.#connect(), wait);
    this.#on.state("lost", wait);
  }

  #ping() {
    if (this.#socket?.readyState !== WebSocket.OPEN || this.#waitingForAnswer) return;
    this.ask({ type: "ping" });
    const asked = this.#socket;
    this.#waitingForAnswer = setTimeout(() => {
      // close() may wait long on a dead connection, so don't wait for it.
      asked.onclose = asked.onmessage = null;
      asked.close();
      if (this.#socket === asked) this.#lost(1006);
    }, ANSWER_WITHIN);
  }

  /** @param {Frame} frame */
  #transmit(frame) {
    const long = frame.text && (frame.text.length > LONGEST_TEXT || bytes(frame) > LONGEST_FRAME);
    if (long) this.#post(frame);
    else this.ask(frame);
  }

  /** @param {Frame} frame */
  async #post(frame) {
    const body = new FormData(/** @type {HTMLFormElement} */ (document.getElementById("composer")));
    body.set("client_id", frame.client_id);
    body.set("conversation", frame.conversation ?? "");
    body.set("text", frame.text);
    for (const id of frame.attachments ?? []) body.append("attachments", id);
    for (const name of ["role", "project", "model", "effort", "only_project"]) {
      if (frame[name] != null) body.set(name, String(frame[name]));
    }
    try {
      const url = frame.type === "edit" ? `/m/${frame.message}/edit` : this.#postUrl;
      const response = await fetch(url, { method: "POST", body, headers: { Accept: "application/json" } });
      const isJson = response.headers.get("content-type")?.includes("json");
      const code = response.status >= 500 ? "unavailable" : "http"; // retried by the page
      if (!isJson) return this.#refuse(`The message couldn't be sent (${response.status}).`, code, frame.client_id);
      const answer = await response.json();
      this.#on.frame({ client_id: frame.client_id, ...answer });
      // The answer comes over the socket, which isn't subscribed to this conversation yet.
      if (answer.type === "accepted") this.ask({ type: "open", conversation: answer.conversation });
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      this.#on.state("lost", LONGEST_WAIT); // fetch's error for “no network”: resent after the next hello
    }
  }

  /** @param {string} text @param {string} code @param {string} [clientId] */
  #refuse(text, code, clientId = this.unsent[0]?.client_id) {
    this.#on.frame({ type: "error", code, text, client_id: clientId });
  }

}

/** Store a text for this tab, so that it survives a reload; "" deletes it. @param {string} key @param {string} value */
export function store(key, value) {
  try {
    if (value) sessionStorage.setItem(key, value);
    else sessionStorage.removeItem(key);
  } catch (error) {
    // Storage is full: a very long text is lost on reload.
    if (!(error instanceof DOMException)) throw error;
  }
}

/** @param {Frame} frame */
function bytes(frame) {
  return new TextEncoder().encode(JSON.stringify(frame)).length;
}
