// @ts-check
/** The chat page: what a frame changes on it, and what a person's click or key sends. docs/protocol.md has the frames. */

import { Connection, keep } from "./connection.js";

/** @typedef {import("./connection.js").Frame} Frame */

const AT_BOTTOM = 48; // px from the end that still count as being there
const ECHO = 2000; // ms within which the nudge about an answer that ended here is only its echo
const htmx = /** @type {any} */ (window).htmx;
const [chat, scroller, composer] = ["chat", "scroller", "composer"].map(element);
const text = /** @type {HTMLTextAreaElement} */ (element("text"));
const stop = /** @type {HTMLButtonElement} */ (element("stop"));
const sendButton = /** @type {HTMLButtonElement} */ (element("send"));
const narrow = matchMedia("(max-width: 68rem)");
const ENDINGS = { complete: "Answer finished.", interrupted: "Answer stopped.", failed: "The answer failed." };

/** The answer being written: `received` counts characters as the server does, by code points and not by UTF-16 units.
 * @type {{id: number, node: Text, received: number, waiting: string, live: boolean} | null} */
let answer = null;
let conversation = chat.dataset.conversation ?? "";
let isFirstHello = true;
let isReopening = false;
let endedAt = -ECHO;

const connection = new Connection(composer.getAttribute("action") ?? "", { frame: onFrame, state: onState });

/** @param {string} id @returns {HTMLElement} */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}

/** @param {number | string} id @returns {HTMLElement | null} */
const article = (id) => document.getElementById(`m-${id}`);

// What comes in ------------------------------------------------------------------------------------------------------

/** @param {Frame} frame */
function onFrame(frame) {
  handlers[frame.type]?.(frame);
  showButtons();
}

/** @type {Record<string, (frame: Frame) => unknown>} */
const handlers = {
  async hello() {
    if (isFirstHello) open();
    else await refetchAll();
    isFirstHello = false;
    connection.resend();
  },

  async opened(frame) {
    isReopening = false;
    if (frame.conversation !== conversation) return;
    const isShown = frame.answer ? article(frame.answer.message) : !document.querySelector("[data-text]");
    if (!isShown) await refetchMessages();
    if (!frame.answer) return void (answer = null);
    begin(frame.answer.message, frame.answer.text);
    if (frame.answer.status) handlers.status(frame.answer.status);
    showButtons();
  },

  accepted(frame) {
    const mine = connection.settle(frame.client_id);
    if (frame.created && mine && !conversation) becomeConversation(frame.conversation);
    if (frame.conversation !== conversation) return;
    showError("");
    if (answer?.id === frame.message) return; // told twice: as the answer to POST /send, and over the socket
    const stick = Boolean(mine) || isAtBottom();
    document.querySelectorAll("#welcome, .message-unsent").forEach((old) => old.remove());
    if (frame.replaces) removeFrom(article(frame.replaces));
    insert(frame.html);
    begin(frame.message, "");
    if (stick) toBottom();
    showUnsent();
  },

  status(frame) {
    const line = article(frame.message)?.querySelector("[data-state]");
    if (!(line instanceof HTMLElement)) return;
    if (answer && answer.id === frame.message) answer.live = true;
    const label = line.querySelector("[data-state-label]");
    if (label) label.textContent = frame.label && `${frame.label}…`;
    line.hidden = frame.state === "writing" || !frame.label;
    scrollAlong(() => {});
  },

  context: (frame) => showReceipt(frame.message),

  delta(frame) {
    if (!answer || answer.id !== frame.message || isReopening) return;
    if (frame.offset > answer.received) return open(); // a gap: ask for the text so far
    const known = answer.received - frame.offset;
    const more = known ? [...frame.text].slice(known).join("") : frame.text;
    if (!answer.received && more) announce("Answer started.");
    if (!answer.waiting) requestAnimationFrame(flush);
    answer.waiting += more;
    answer.received += length(more);
    answer.live = true;
  },

  done(frame) {
    if (answer?.id === frame.message) answer = null;
    endedAt = performance.now();
    const old = article(frame.message);
    if (!old) return;
    const isSelected = old.hasAttribute("data-shown");
    scrollAlong(() => old.replaceWith(...parsed(frame.html)));
    decorate(article(frame.message));
    if (isSelected) article(frame.message)?.setAttribute("data-shown", "");
    announce(ENDINGS[/** @type {keyof typeof ENDINGS} */ (frame.outcome)] ?? "");
  },

  async nudge(frame) {
    const isHere = frame.conversation === conversation;
    const isKnown = answer?.live || performance.now() - endedAt < ECHO;
    if (frame.kind === "resync") await refetchAll();
    else if (frame.kind === "conversation" && isHere && !isKnown) await refetchMessages().then(open);
    else if (frame.kind === "librarian" && isHere) refetch(`/c/${conversation}/librarian`, "#librarian");
    else if (["conversations", "memory", "librarian"].includes(frame.kind)) refetchList();
  },

  error(frame) {
    if (frame.code === "unavailable") setTimeout(tryAgain, 3000);
    else giveBack(frame.client_id);
    if (frame.code === "signed_out") onState("signed_out");
    showError(frame.text);
  },
};

function tryAgain() {
  if (isReopening) open();
  connection.resend();
}

/** A message that was refused goes back to where it was written. @param {string | undefined} clientId */
function giveBack(clientId) {
  const refused = clientId && connection.settle(clientId);
  if (!refused) return;
  if (!text.value.trim()) fill(refused.text ?? "");
  showUnsent();
}
/** @param {import("./connection.js").State} state @param {number} [wait] ms until the next attempt */
function onState(state, wait = 0) {
  const line = element("connection");
  line.hidden = state === "open" || (state === "lost" && wait < 1000); // a short break is not worth a word
  if (state === "signed_out") {
    const link = Object.assign(document.createElement("a"), { href: `/accounts/login/?next=${location.pathname}`, textContent: "Sign in" });
    line.replaceChildren("You are signed out. ", link, " to go on; what you wrote stays here.");
  } else if (state === "lost") {
    line.textContent = "The connection is lost. Recall tries again by itself; nothing you wrote is lost.";
  }
}

// The messages ---------------------------------------------------------------------------------------------------------

function open() {
  if (!conversation) return;
  isReopening = true;
  connection.ask({ type: "open", conversation });
}

/** @param {number} id @param {string} soFar the answer's text up to now */
function begin(id, soFar) {
  const body = article(id)?.querySelector("[data-text]");
  if (!body) return;
  const node = document.createTextNode(soFar);
  scrollAlong(() => body.replaceChildren(node));
  answer = { id, node, received: length(soFar), waiting: "", live: false };
}

function flush() {
  if (!answer) return;
  const { node, waiting } = answer;
  answer.waiting = "";
  scrollAlong(() => node.appendData(waiting));
}

/** @param {string} string its length in code points */
function length(string) {
  let points = 0;
  for (const _ of string) points++;
  return points;
}

/** @param {string} html rendered and sanitised by the server @returns {Element[]} */
function parsed(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return [...template.content.children];
}

/** Add articles; one that is there already, and all that follows it, gives way. @param {string} html */
function insert(html) {
  const articles = parsed(html);
  removeFrom(document.getElementById(articles[0].id));
  element("messages").append(...articles);
  articles.forEach(decorate);
}

/** @param {Element | null} first */
function removeFrom(first) {
  while (first) {
    const next = first.nextElementSibling;
    first.remove();
    first = next;
  }
}

/** Give each block of code a button that copies it. @param {ParentNode | null} root */
function decorate(root) {
  for (const pre of root?.querySelectorAll(".prose pre") ?? []) {
    const frame = Object.assign(document.createElement("div"), { className: "code" });
    const copy = Object.assign(document.createElement("button"), { type: "button", className: "button button-small code-copy", textContent: "Copy" });
    copy.dataset.action = "copy-code";
    pre.replaceWith(frame);
    frame.append(pre, copy);
  }
}

const unsentHere = () => connection.unsent.filter((frame) => frame.type !== "send" || (frame.conversation ?? "") === conversation);

/** Show what could not be sent yet, at the end. */
function showUnsent() {
  document.querySelectorAll(".message-unsent").forEach((old) => old.remove());
  for (const frame of unsentHere()) {
    if (frame.type !== "send") continue;
    const copy = /** @type {HTMLTemplateElement} */ (element("unsent")).content.cloneNode(true);
    /** @type {DocumentFragment} */ (copy).querySelector(".plain")?.append(frame.text);
    element("messages").append(copy);
  }
}

function isAtBottom() {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < AT_BOTTOM;
}

function toBottom() {
  scroller.scrollTop = scroller.scrollHeight;
}

/** Stay at the end if that is where the reader is; never move them otherwise. @param {() => void} change */
function scrollAlong(change) {
  const stick = isAtBottom();
  change();
  if (stick) toBottom();
}

// What is fetched again ------------------------------------------------------------------------------------------------

/** @type {Map<string, number>} */
const asked = new Map();

/** Put a partial into the page, unless a newer one was asked for meanwhile.
 * @param {string} url @param {string} target @param {string} [swapStyle] */
async function refetch(url, target, swapStyle = "outerHTML") {
  const turn = (asked.get(target) ?? 0) + 1;
  asked.set(target, turn);
  const response = await fetch(url, { headers: { "HX-Request": "true" } }).catch(() => null); // the socket's line tells of it
  if (response?.redirected) return onState("signed_out");
  const html = response?.ok && (await response.text());
  if (html && asked.get(target) === turn && document.querySelector(target)) htmx.swap(target, html, { swapStyle });
}

async function refetchMessages() {
  if (!conversation) return;
  const [stick, top] = [isAtBottom(), scroller.scrollTop];
  await refetch(`/c/${conversation}/messages${location.search}`, "#messages");
  decorate(element("messages"));
  showUnsent();
  scroller.scrollTop = stick ? scroller.scrollHeight : top;
}

async function refetchList() {
  await refetch(`/conversations?current=${conversation}`, "#conversation-list");
  if (conversation) document.title = `${document.querySelector("#talk-header h1")?.textContent} · Recall`;
}

async function refetchAll() {
  answer = null;
  await Promise.all([refetchList(), refetchMessages()]);
  open();
}

/** @param {number | string} id of an answer */
async function showReceipt(id) {
  document.querySelectorAll("[data-shown]").forEach((old) => old.removeAttribute("data-shown"));
  article(id)?.setAttribute("data-shown", "");
  await refetch(`/receipts/${id}`, "#receipt", "innerHTML");
}

/** The first message made the conversation: the page is now its page. @param {string} id */
function becomeConversation(id) {
  keep(draftKey(), "");
  conversation = id;
  keep(draftKey(), text.value);
  history.pushState(null, "", `/c/${id}`);
  refetchList();
}

// What a person does ---------------------------------------------------------------------------------------------------

function submit() {
  const words = text.value;
  if (!words.trim()) return;
  if (isBusy()) return showError("Recall is still answering. Stop it first, or wait; what you wrote stays here.");
  connection.send({ type: "send", client_id: clientId(), conversation: conversation || null, text: words });
  fill("");
  showError("");
  showUnsent();
  toBottom();
  showButtons();
}

const isBusy = () => answer !== null || unsentHere().length > 0;

/** @returns {string} a UUID; crypto.randomUUID is missing where the page is served without TLS */
function clientId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** @param {string} words */
function fill(words) {
  text.value = words;
  text.dispatchEvent(new Event("input"));
}

const draftKey = () => `recall-draft-${conversation}`;

/** @param {string} sentence "" for none */
function showError(sentence) {
  const line = element("composer-error");
  line.textContent = sentence;
  line.hidden = !sentence;
}

/** @param {string} sentence for a screen reader: the text that streams is not announced bit by bit */
function announce(sentence) {
  element("announcer").textContent = sentence;
}

function showButtons() {
  const hadFocus = document.activeElement === stop;
  stop.hidden = answer === null;
  sendButton.hidden = answer !== null;
  sendButton.disabled = isBusy() || !text.value.trim();
  if (hadFocus && stop.hidden) text.focus();
}

/** @param {HTMLElement} button @param {string} words */
async function copy(button, words) {
  await navigator.clipboard.writeText(words);
  const label = button.querySelector("span") ?? button;
  label.textContent = "Copied";
  setTimeout(() => (label.textContent = "Copy"), 1500);
}

/** @type {Record<string, (button: HTMLElement, message: HTMLElement | null) => unknown>} */
const actions = {
  retry: (_, message) => again("retry", message),
  continue: (_, message) => again("continue", message),
  context(_, message) {
    if (narrow.matches) element("context").showPopover();
    else setContext("open");
    showReceipt(message?.dataset.message ?? "");
  },
  "toggle-context"() {
    if (narrow.matches) element("context").togglePopover();
    else setContext(chat.dataset.context === "closed" ? "open" : "closed");
  },
  copy: (button, message) => copy(button, /** @type {HTMLElement} */ (message?.querySelector(".message-body")).innerText),
  "copy-code": (button) => copy(button, button.parentElement?.querySelector("code")?.textContent ?? ""),
  example(button) {
    fill(button.textContent ?? "");
    text.focus();
  },
};

/** @param {"retry" | "continue"} type @param {HTMLElement | null} message */
function again(type, message) {
  if (isBusy() || !message) return;
  connection.send({ type, client_id: clientId(), message: Number(message.dataset.message) });
  showButtons();
  text.focus();
}

/** @param {"open" | "closed"} state kept in a cookie, so that the page comes as it was left */
function setContext(state) {
  chat.dataset.context = state;
  document.cookie = `context=${state}; path=/; max-age=31536000; samesite=lax`;
}

chat.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-action]");
  if (button instanceof HTMLElement) actions[button.dataset.action ?? ""]?.(button, button.closest(".message"));
});
composer.addEventListener("submit", (event) => (event.preventDefault(), submit()));
stop.addEventListener("click", () => connection.ask({ type: "stop", conversation }));
text.addEventListener("keydown", (event) => {
  const isTouch = matchMedia("(pointer: coarse)").matches; // no Shift+Enter there: Enter is the only new line
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || isTouch) return;
  event.preventDefault();
  submit();
});
text.addEventListener("input", () => {
  keep(draftKey(), text.value);
  if (!CSS.supports("field-sizing", "content")) text.rows = Math.min(12, text.value.split("\n").length);
  showButtons();
});
scroller.addEventListener("scroll", () => (element("jump").hidden = isAtBottom()), { passive: true });
element("jump").addEventListener("click", toBottom);
narrow.addEventListener("change", () => document.querySelectorAll(":popover-open").forEach((sheet) => /** @type {HTMLElement} */ (sheet).hidePopover()));
addEventListener("popstate", () => location.reload());
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  // Somebody is typing a title there: leave it alone.
  if (/** @type {CustomEvent} */ (event).detail.target.contains(document.activeElement)) event.preventDefault();
});

if (!navigator.clipboard) chat.classList.add("without-clipboard"); // served without TLS
if (!text.value) fill(sessionStorage.getItem(draftKey()) ?? "");
decorate(document);
showUnsent();
if (!location.hash) toBottom();
const latest = element("messages").dataset.latestAnswer;
if (latest) showReceipt(latest);
showButtons();
