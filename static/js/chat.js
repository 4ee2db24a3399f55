// @ts-check
/** The chat page: what a frame changes on it, and what a person's click or key sends (frames: docs/protocol.md). */

import { Connection, keep } from "./connection.js";

/** @typedef {import("./connection.js").Frame} Frame */

const AT_BOTTOM = 48; // px from the end that still count as being there
const ECHO = 2000; // ms within which the nudge about an answer that ended here is only its echo
const LOOK_AGAIN = 3000; // ms between two looks at an answer that another process writes
const CODE = `<div class="code">
  <button type="button" class="button button-small code-copy" data-action="copy-code">Copy</button></div>`;
const ENDINGS = { complete: "Answer finished.", interrupted: "Answer stopped.", failed: "The answer failed." };

/** @param {string} id @returns {any} an element the template always has, or an article it may have */
const $ = (id) => document.getElementById(id);
const htmx = /** @type {any} */ (window).htmx;
const [chat, scroller, composer, text, stop] = ["chat", "scroller", "composer", "text", "stop"].map($);
const narrow = matchMedia("(max-width: 68rem)");

/** The answer being written: `received` counts characters as the server does, by code points and not by UTF-16 units;
 * `live` once its own frames came, so that this process writes it.
 * @type {{id: number, node: Text, received: number, waiting: string, live: boolean} | null} */
let answer = null;
/** @type {string} */ let conversation = chat.dataset.conversation;
let isFirstHello = true;
let isReopening = false;
let endedAt = -ECHO;

const connection = new Connection(composer.getAttribute("action"), { frame: onFrame, state: onState });

// What comes in --------

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

  async opened({ conversation: which, answer: found }) {
    isReopening = false;
    if (which !== conversation) return;
    const isShown = found ? $(`m-${found.message}`) : !document.querySelector("[data-text]");
    if (!isShown) await refetchMessages();
    answer = null;
    if (found) begin(found.message, found.text);
    if (found?.status) handlers.status(found.status);
    showButtons();
  },

  accepted(frame) {
    const mine = connection.settle(frame.client_id);
    if (frame.created && mine && !conversation) becomeConversation(frame.conversation);
    if (frame.conversation !== conversation) return;
    showError("");
    if (answer?.id === frame.message) return; // told twice: as the answer to POST /send, and over the socket
    const stick = mine || isAtBottom();
    $("welcome")?.remove();
    if (frame.replaces) removeFrom($(`m-${frame.replaces}`));
    append(frame.html);
    begin(frame.message, "");
    showUnsent();
    if (stick) toBottom();
  },

  status(frame) {
    const line = $(`m-${frame.message}`)?.querySelector("[data-state]");
    if (!line) return;
    if (answer && answer.id === frame.message) answer.live = true;
    line.lastElementChild.textContent = `${frame.label}…`;
    scrollAlong(() => (line.hidden = frame.state === "writing" || !frame.label));
  },

  context: (frame) => showReceipt(frame.message),

  delta(frame) {
    if (!answer || answer.id !== frame.message || isReopening) return;
    if (frame.offset > answer.received) return open(); // a gap: ask for the text so far
    const known = answer.received - frame.offset;
    const more = known ? [...frame.text].slice(known).join("") : frame.text;
    if (!answer.received) announce("Answer started.");
    if (!answer.waiting) requestAnimationFrame(flush);
    answer.waiting += more;
    answer.received += length(more);
    answer.live = true;
  },

  done(frame) {
    if (answer?.id === frame.message) answer = null;
    endedAt = performance.now();
    const old = $(`m-${frame.message}`);
    if (!old) return;
    const [article] = parsed(frame.html);
    article.toggleAttribute("data-shown", old.hasAttribute("data-shown"));
    decorate(article);
    scrollAlong(() => old.replaceWith(article));
    announce(ENDINGS[/** @type {keyof ENDINGS} */ (frame.outcome)]);
  },

  async nudge({ kind, conversation: which }) {
    const isOpen = which === conversation;
    const isKnown = answer?.live || performance.now() - endedAt < ECHO;
    if (kind === "resync") await refetchAll();
    else if (kind === "conversation" && isOpen && !isKnown) await refetchMessages().then(open);
    else if (kind === "librarian" && isOpen) refetch(`/c/${conversation}/librarian`, "librarian");
    else if (kind !== "conversation") refetchList();
  },

  error(frame) {
    if (frame.code === "unavailable") setTimeout(tryAgain, LOOK_AGAIN);
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
  if (refused && !text.value.trim()) fill(refused.text ?? "");
  showUnsent();
}

/** @param {import("./connection.js").State} state @param {number} [wait] ms until the next attempt */
function onState(state, wait = 0) {
  const line = $("connection");
  line.hidden = state === "open" || (state === "lost" && wait < 1000); // a short break is not worth a word
  if (state === "lost") line.textContent = "The connection is lost. Recall tries again by itself; nothing is lost.";
  if (state !== "signed_out") return;
  const link = document.createElement("a");
  Object.assign(link, { href: `/accounts/login/?next=${location.pathname}`, textContent: "Sign in" });
  line.replaceChildren("You are signed out. ", link, " to go on; what you wrote stays here.");
}

// The messages --------

function open() {
  isReopening = Boolean(conversation);
  if (conversation) connection.ask({ type: "open", conversation });
}

/** @param {number} id @param {string} soFar the answer's text up to now */
function begin(id, soFar) {
  const body = $(`m-${id}`)?.querySelector("[data-text]");
  if (!body) return;
  const node = document.createTextNode(soFar);
  scrollAlong(() => body.replaceChildren(node));
  answer = { id, node, received: length(soFar), waiting: "", live: false };
}

function flush() {
  if (!answer) return;
  const { id, node, waiting } = answer;
  answer.waiting = "";
  scrollAlong(() => {
    node.appendData(waiting);
    $(`m-${id}`)?.querySelector("[data-state]")?.setAttribute("hidden", "");
  });
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
function append(html) {
  const articles = parsed(html);
  removeFrom($(articles[0].id));
  $("messages").append(...articles);
  articles.forEach(decorate);
}

/** @param {Element | null} first */
function removeFrom(first) {
  while (first?.nextElementSibling) first.nextElementSibling.remove();
  first?.remove();
}

/** Give each block of code a button that copies it. @param {ParentNode} root */
function decorate(root) {
  for (const pre of root.querySelectorAll(".prose pre")) {
    const [frame] = parsed(CODE);
    pre.replaceWith(frame);
    frame.prepend(pre);
  }
}

/** @param {Frame} frame */
const isHere = (frame) => frame.type !== "send" || (frame.conversation ?? "") === conversation;
const unsent = () => connection.unsent.filter(isHere);

/** Show what could not be sent yet, at the end. */
function showUnsent() {
  document.querySelectorAll(".message-unsent").forEach((old) => old.remove());
  for (const frame of unsent()) {
    if (!frame.text) continue;
    const copy = $("unsent").content.cloneNode(true);
    copy.querySelector(".plain").append(frame.text);
    $("messages").append(copy);
  }
}

const isAtBottom = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < AT_BOTTOM;
const toBottom = () => (scroller.scrollTop = scroller.scrollHeight);

/** Stay at the end if that is where the reader is; never move them otherwise. @param {() => unknown} change */
function scrollAlong(change) {
  const stick = isAtBottom();
  change();
  if (stick) toBottom();
}

// What is fetched again --------

/** @type {Record<string, number>} */
const asked = {};

/** Put a partial into the page, unless a newer one was asked for meanwhile.
 * @param {string} url @param {string} id of what it replaces, or fills @param {string} [swapStyle] */
async function refetch(url, id, swapStyle = "outerHTML") {
  const turn = (asked[id] = (asked[id] ?? 0) + 1);
  const response = await fetch(url, { headers: { "HX-Request": "true" } }).catch(() => null); // the socket tells of it
  if (response?.redirected) return onState("signed_out");
  const html = response?.ok && (await response.text());
  if (html && asked[id] === turn && $(id)) htmx.swap($(id), html, { swapStyle });
}

async function refetchMessages() {
  if (!conversation) return;
  const [stick, top] = [isAtBottom(), scroller.scrollTop];
  await refetch(`/c/${conversation}/messages${location.search}`, "messages");
  decorate($("messages"));
  showUnsent();
  scroller.scrollTop = stick ? scroller.scrollHeight : top;
}

async function refetchList() {
  await refetch(`/conversations?current=${conversation}`, "conversation-list");
  if (conversation) document.title = `${$("talk-header").querySelector("h1").textContent} · Recall`;
}

async function refetchAll() {
  answer = null;
  await Promise.all([refetchList(), refetchMessages()]);
  open();
}

/** @param {number | string} id of an answer */
function showReceipt(id) {
  document.querySelectorAll("[data-shown]").forEach((old) => old.removeAttribute("data-shown"));
  $(`m-${id}`)?.setAttribute("data-shown", "");
  return refetch(`/receipts/${id}`, "receipt", "innerHTML");
}

/** The first message made the conversation: the page is now its page. @param {string} id */
function becomeConversation(id) {
  keep(draftKey(), "");
  conversation = id;
  keep(draftKey(), text.value);
  history.pushState(null, "", `/c/${id}`);
  refetchList();
}

// What a person does --------

const isBusy = () => answer !== null || unsent().length > 0;
const draftKey = () => `recall-draft-${$("chat").dataset.user}-${conversation}`;

function submit() {
  if (!text.value.trim()) return;
  if (isBusy()) return showError("Recall is still answering. Stop it first, or wait; what you wrote stays here.");
  connection.send({ type: "send", client_id: clientId(), conversation: conversation || null, text: text.value });
  $("notices").replaceChildren();
  fill("");
  showError("");
  showUnsent();
  toBottom();
}

/** @param {"retry" | "continue"} type @param {any} article of the answer */
function again(type, article) {
  if (!isBusy()) connection.send({ type, client_id: clientId(), message: Number(article.dataset.message) });
  showButtons();
  text.focus();
}

/** @returns {string} a random UUID; crypto.randomUUID is missing where the page is served without TLS */
function clientId() {
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, "$1-$2-4$3-8$4-");
}

/** @param {string} words */
function fill(words) {
  text.value = words;
  text.dispatchEvent(new Event("input"));
}

/** @param {string} sentence "" for none */
function showError(sentence) {
  Object.assign($("composer-error"), { textContent: sentence, hidden: !sentence });
}

/** @param {string} sentence for a screen reader: the text that streams is not announced bit by bit */
function announce(sentence) {
  $("announcer").textContent = sentence;
}

function showButtons() {
  const hadFocus = document.activeElement === stop;
  stop.hidden = answer === null;
  $("send").hidden = answer !== null;
  $("send").disabled = isBusy() || !text.value.trim();
  if (hadFocus && stop.hidden) text.focus();
}

/** @param {Element} button @param {string} words */
async function copy(button, words) {
  await navigator.clipboard.writeText(words);
  const label = button.querySelector("span") ?? button;
  label.textContent = "Copied";
  setTimeout(() => (label.textContent = "Copy"), 1500);
}

/** @type {Record<string, (button: any, article: any) => unknown>} */
const actions = {
  retry: (_, article) => again("retry", article),
  continue: (_, article) => again("continue", article),
  context(_, article) {
    if (narrow.matches) $("context").showPopover();
    else foldContext(false);
    showReceipt(article.dataset.message);
  },
  "toggle-context"() {
    if (narrow.matches) $("context").togglePopover();
    else foldContext(chat.dataset.context !== "closed");
  },
  copy: (button, article) => copy(button, article.querySelector(".message-body").innerText),
  "copy-code": (button) => copy(button, button.parentElement.querySelector("code").textContent),
  example(button) {
    fill(button.textContent);
    text.focus();
  },
};

/** @param {boolean} isFolded kept in a cookie, so that the page comes as it was left */
function foldContext(isFolded) {
  chat.dataset.context = isFolded ? "closed" : "open";
  document.cookie = `context=${chat.dataset.context}; path=/; max-age=31536000; samesite=lax`;
}

chat.addEventListener("click", (/** @type {any} */ { target }) => {
  const button = target.closest("[data-action]");
  if (button) actions[button.dataset.action](button, button.closest(".message"));
});
composer.addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  submit();
});
text.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
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
stop.addEventListener("click", () => connection.ask({ type: "stop", conversation }));
scroller.addEventListener("scroll", () => ($("jump").hidden = isAtBottom()), { passive: true });
$("jump").addEventListener("click", toBottom);
narrow.addEventListener("change", () => {
  for (const sheet of ["conversations", "context"]) $(sheet).hidePopover();
});
addEventListener("popstate", () => {
  // Not for a link to a message of this page, which is told here too.
  if (location.pathname !== (conversation ? `/c/${conversation}` : "/")) location.reload();
});
document.addEventListener("htmx:oobBeforeSwap", (/** @type {any} */ event) => {
  // Somebody is typing a title there: leave it alone.
  if (event.detail.target.contains(document.activeElement)) event.preventDefault();
});
setInterval(() => answer && !answer.live && open(), LOOK_AGAIN);

chat.classList.toggle("without-clipboard", !navigator.clipboard); // it is missing without TLS
if (!text.value) fill(sessionStorage.getItem(draftKey()) ?? "");
decorate(document);
showUnsent();
if (!location.hash) toBottom();
if ($("messages").dataset.latestAnswer) showReceipt($("messages").dataset.latestAnswer);
showButtons();
