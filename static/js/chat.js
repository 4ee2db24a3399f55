// @ts-check
/** The chat page: applies the socket's frames to the page, and sends what the user does (frames: docs/protocol.md). */

import { Attachments } from "./attachments.js";
import { choices } from "./choices.js";
import { Branches } from "./branches.js";
import { Connection, store } from "./connection.js";
import { length, LiveText, settle, Thinking } from "./live_text.js";
import { addPreview, togglePreview } from "./previews.js";
import { Temporary } from "./temporary.js";
import { onVisit } from "./visits.js";
import { loadMoreOnScroll, firstVisible, shownRange } from "./windows.js";

/** @typedef {import("./connection.js").Frame} Frame */

const AT_BOTTOM = 48; // px from the end that still count as the end
const ECHO = 2000; // ms within which an event about an answer that ended here is only its echo
const POLL_EVERY = 3000; // ms between two polls of an answer that another process writes
const COPY = `<button type="button" class="button button-quiet button-small code-copy" data-action="copy-code">Copy</button>`;
const STILL_ANSWERING = "Recall is still answering. Stop it or wait. Your text stays here.";
const ENDINGS = { complete: "Answer finished.", interrupted: "Answer stopped.", failed: "The answer failed." };

/** @param {string} id @returns {any} an element of the template, or an article */
const $ = (id) => document.getElementById(id);
const htmx = /** @type {any} */ (window).htmx;
const [chat, scroller, composer, text, stop] = ["chat", "scroller", "composer", "text", "stop"].map($);
const narrow = matchMedia("(max-width: 68rem)");
const phone = matchMedia("(max-width: 46rem)");

/** The answer being written: `received` counts characters as the server does, by code points and not by UTF-16 units;
 * `waiting` are frames to show with the next picture; `live` once its frames arrive: this process writes it.
 * @type {{id: number, shown: LiveText, thinking: Thinking, received: number, waiting: Frame[], live: boolean} | null} */
let answer = null;
/** @type {string} */ let conversation = chat.dataset.conversation;
let isFirstHello = true;
let isReopening = false;
let endedAt = -ECHO;
/** The path and query of what is shown; "" until it has arrived. */ let place = placeOf(location);
/** The answer whose context was asked for last. @type {number | string} */ let described = "";

const temporary = new Temporary(() => {
  store(draftKey(), temporary.isOn ? "" : text.value);
  text.focus();
});
const attachments = new Attachments({
  isTemporary: () => temporary.isOn,
  about: () => (conversation ? { conversation } : { model: choices().model ?? "" }),
  key: () => `recall-attachments-${$("chat").dataset.user}-${conversation}`,
  changed: () => showButtons(),
  refuse: showError,
  announce,
  insert: (words) => text.setRangeText(words, text.selectionStart, text.selectionEnd, "end"),
});
const branches = new Branches({
  scroller,
  announce,
  send(message, words) {
    const client_id = clientId();
    connection.send({ type: "edit", client_id, message, text: words });
    showError("");
    showButtons();
    return client_id;
  },
  refused() {
    const refusal = isBusy() ? STILL_ANSWERING : "";
    if (refusal) showError(refusal);
    return refusal;
  },
  left: () => text.focus(),
});
const connection = new Connection(composer.getAttribute("action"), { frame: onFrame, state: onState });

// Frames --------

/** @param {Frame} frame */
function onFrame(frame) {
  handlers[frame.type]?.(frame);
  showButtons();
}

/** @type {Record<string, (frame: Frame) => unknown>} */
const handlers = {
  async hello() {
    temporary.end(); // it belonged to the socket before this one
    if (isFirstHello) open();
    else await refetchAll();
    isFirstHello = false;
    connection.resend();
    if (temporary.pending) connection.ask(temporary.pending); // it was sent before the connection was open, or while it was lost
  },

  async opened({ conversation: which, answer: found }) {
    isReopening = false;
    if (which !== conversation) return;
    const isShown = found ? $(`m-${found.message}`) : !document.querySelector("[data-text]");
    if (!isShown) await refetchMessages();
    answer = null;
    if (found) begin(found.message, found);
    if (found?.status) handlers.status(found.status);
    showButtons();
  },

  async accepted(frame) {
    const mine = connection.settle(frame.client_id) ?? temporary.settle(frame.client_id);
    if (frame.temporary) temporary.begin(frame.conversation);
    const isArriving = !place;
    if (frame.created && mine && !conversation) becomeConversation(frame.conversation);
    if (frame.conversation !== shown()) return;
    if (isArriving) return show(); // what is on its way may lack it
    showError("");
    if (answer?.id === frame.message) return; // accepted twice: by the response to POST /send, and over the socket
    const stick = mine || isAtBottom();
    $("welcome")?.remove();
    branches.settle(frame.client_id);
    if (canAppend(frame.replaces)) append(frame.html, frame.replaces);
    else await showEnd(); // the page shows another part or branch of the conversation
    begin(frame.message, { text: "", html: "", open: [], thinking: "", thinking_html: "", thinking_open: [] });
    showUnsent();
    if (stick) toBottom();
  },

  status(frame) {
    const line = $(`m-${frame.message}`)?.querySelector("[data-state]");
    if (!line) return;
    if (answer && answer.id === frame.message) answer.live = true;
    line.lastElementChild.textContent = `${frame.label}…`;
    scrollAlong(() => {
      const thinks = answer?.id === frame.message && answer.thinking.mark(frame.state === "thinking");
      line.hidden = frame.state === "writing" || !frame.label || thinks;
      showSteps(line.parentElement.querySelector("[data-steps]"), frame.steps ?? []);
    });
  },

  context(frame) {
    if (frame.html) temporary.keepPanel(frame.message, frame.html);
    if (!$(`m-${frame.message}`)) return; // an answer that this page doesn't show
    showReceipt(frame.message);
    showBudget();
  },

  delta(frame) {
    if (!answer || answer.id !== frame.message || isReopening) return;
    if (frame.offset > answer.received) return open(); // a gap: ask for the text so far
    if (frame.offset < answer.received) return; // it was part of what `opened` told
    if (!answer.received) announce("Answer started.");
    if (!answer.waiting.length) requestAnimationFrame(flush);
    answer.waiting.push(frame);
    answer.received += length(frame.text);
    answer.live = true;
  },

  thinking(frame) {
    if (!answer || answer.id !== frame.message || isReopening) return;
    if (frame.offset > answer.thinking.received) return open(); // a gap
    answer.live = true;
    scrollAlong(() => answer?.thinking.take(frame).forEach(decorate));
    $(`m-${frame.message}`)?.querySelector("[data-state]")?.setAttribute("hidden", "");
  },

  done(frame) {
    if (answer?.id === frame.message) answer = null;
    endedAt = performance.now();
    const old = $(`m-${frame.message}`);
    if (!old) return;
    const [article] = parse(frame.html);
    decorate(article);
    scrollAlong(() => settle(old, article));
    for (const part of old.children) if (!part.matches(".prose")) htmx.process(part); // an answer's own text has no buttons of htmx's
    if (conversation) refetch(`/c/${conversation}/folding`, "folding");
    refetchLibrarian(); // there is something new to read, or reading has started
    announce(ENDINGS[/** @type {keyof ENDINGS} */ (frame.outcome)]);
  },

  async nudge({ kind, conversation: which, message }) {
    const isOpen = which === conversation;
    const isKnown = answer?.live || performance.now() - endedAt < ECHO;
    if (temporary.id) return; // what it shows is stored nowhere
    if (kind === "resync") await refetchAll();
    else if (kind === "conversation" && isOpen && !isKnown) await refetchTurn();
    else if (kind === "branch") await (isOpen && !branches.isSwitching && !$(`m-${message}`) && refetchMessages().then(open));
    else if (kind === "compaction") await (isOpen && refetchFolding());
    else if (kind === "librarian" && isOpen) refetchLibrarian();
    else if (kind !== "conversation" && kind !== "budget") refetchList();
  },

  error(frame) {
    if (frame.code === "unavailable" && !temporary.isOn) setTimeout(tryAgain, POLL_EVERY);
    else giveBack(frame.client_id);
    if (frame.code === "signed_out") onState("signed_out");
    showError(frame.text);
  },
};

function tryAgain() {
  if (isReopening) open();
  connection.resend();
}

/** Put a rejected message back into its editor. @param {string | undefined} clientId */
function giveBack(clientId) {
  const refused = clientId && (connection.settle(clientId) ?? temporary.settle(clientId));
  if (refused?.type === "edit") branches.giveBack(refused.client_id, refused.text);
  else if (refused) {
    if (!text.value.trim()) fill(refused.text ?? "");
    attachments.restore(refused.attachments ?? []);
  }
  showUnsent();
}

/** @param {import("./connection.js").State} state @param {number} [wait] ms until the next attempt */
function onState(state, wait = 0) {
  const line = $("connection");
  line.hidden = state === "open" || (state === "lost" && wait < 1000); // don't mention a short interruption
  if (state !== "open") temporary.end();
  if (state === "lost") line.textContent = "Connection lost. Reconnecting… Nothing is lost.";
  if (state !== "signed_out") return;
  const link = document.createElement("a");
  Object.assign(link, { href: `/accounts/login/?next=${location.pathname}`, textContent: "Sign in" });
  line.replaceChildren("You're signed out. ", link, " to continue. Your text stays here.");
}

// The browser knows at once, long before the socket is missed: it may be the same socket afterwards.
addEventListener("offline", () => {
  $("connection").textContent = "You're offline. Messages are sent when you're back.";
  $("connection").hidden = false;
});
addEventListener("online", () => ($("connection").hidden = connection.isOpen));

// The messages --------

function open() {
  isReopening = Boolean(conversation);
  if (conversation) connection.ask({ type: "open", conversation });
}

/** @param {number} id @param {any} soFar text and HTML of the answer so far */
function begin(id, soFar) {
  const body = $(`m-${id}`)?.querySelector("[data-text]");
  if (!body) return;
  const shown = new LiveText(body, soFar);
  const thinking = new Thinking(body.parentElement.querySelector(".thinking"), soFar);
  scrollAlong(() => shown.begin());
  decorate(body.parentElement);
  answer = { id, shown, thinking, received: length(soFar.text), waiting: [], live: false };
}

function flush() {
  if (!answer) return;
  const { id, shown, thinking, waiting } = answer;
  answer.waiting = [];
  scrollAlong(() => {
    const article = $(`m-${id}`);
    for (const element of shown.take(waiting)) decorate(element);
    thinking.mark(false);
    article?.querySelector("[data-state]")?.setAttribute("hidden", "");
  });
}

/** The model's steps so far, one per line. @param {any} list @param {string[]} steps */
function showSteps(list, steps) {
  list.hidden = !steps.length;
  for (const step of steps.slice(list.children.length)) {
    list.append(Object.assign(document.createElement("li"), { textContent: step }));
  }
}

/** @param {string} html rendered and sanitized by the server @returns {Element[]} */
function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return [...template.content.children];
}

/** Whether new messages can be appended to what is shown. @param {number | null} replaced the message they replace, if any */
function canAppend(replaced) {
  if (document.querySelector(".more-later")) return false;
  return !replaced || $(`m-${replaced}`)?.parentElement === $("messages");
}

/** Append articles. An article that is replaced or already shown is removed first, with all that follow.
 * @param {string} html @param {number | null} [replaced] */
function append(html, replaced) {
  const articles = parse(html);
  for (const id of [articles[0].id, `m-${replaced}`]) removeFrom($(id));
  $("messages").append(...articles);
  for (const article of articles) {
    decorate(article);
    htmx.process(article);
  }
}

/** @param {Element | null} first */
function removeFrom(first) {
  while (first?.nextElementSibling) first.nextElementSibling.remove();
  first?.remove();
}

/** Add the buttons of code blocks. @param {ParentNode} root */
function decorate(root) {
  const isCode = root instanceof Element && root.matches(".code");
  for (const code of isCode ? [root] : root.querySelectorAll(".code:not(:has(.code-copy))")) {
    code.append(...parse(COPY));
    addPreview(code);
  }
}

/** @param {Frame} frame */
const isHere = (frame) => frame.type !== "send" || (frame.conversation ?? "") === conversation;
const unsent = () => [...connection.unsent.filter(isHere), ...(temporary.pending ? [temporary.pending] : [])];

/** Show unsent messages at the end. */
function showUnsent() {
  document.querySelectorAll(".message-unsent").forEach((old) => old.remove());
  for (const frame of unsent()) {
    if (frame.text == null || frame.type === "edit") continue; // an edit is shown in its message
    const copy = $("unsent").content.cloneNode(true);
    copy.querySelector(".plain").append(frame.text || `${frame.attachments?.length ?? 0} attachments`);
    $("messages").append(copy);
  }
}

const isAtBottom = () =>
  !document.querySelector(".more-later") && scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < AT_BOTTOM;
const toBottom = () => (scroller.scrollTop = scroller.scrollHeight);

/** Keep a reader who is at the end at the end; never move them otherwise. @param {() => unknown} change */
function scrollAlong(change) {
  const stick = isAtBottom();
  change();
  if (stick) toBottom();
}

// Refetching --------

/** @type {Record<string, number>} */
const asked = {};

/** @param {string} what @returns {number} what `asked` has for it on arrival, unless it was asked again meanwhile */
const ask = (what) => (asked[what] = (asked[what] ?? 0) + 1);

/** Fetch a partial and swap it in, unless a newer request was made meanwhile.
 * @param {string} url @param {string} id of the element it replaces or fills @param {string} [swapStyle]
 * @param {() => boolean} [isFree] whether it may be replaced now: checked on arrival
 * @returns {Promise<boolean | void>} whether it was */
async function refetch(url, id, swapStyle = "outerHTML", isFree = () => true) {
  const turn = ask(id);
  const response = await fetch(url, { headers: { "HX-Request": "true" } }).catch(() => null); // the socket reports it
  if (response?.redirected) return onState("signed_out");
  const html = response?.ok && (await response.text().catch(() => "")); // it may be cut off, too
  if (!html || asked[id] !== turn || !$(id) || !isFree()) return false;
  htmx.swap($(id), html, { swapStyle });
  return true;
}

/** @param {string} [which] query for another part than the one shown */
async function refetchMessages(which) {
  if (!conversation || !place) return;
  const [stick, seen, draft] = [isAtBottom(), firstVisible(scroller), branches.draft];
  const top = seen?.getBoundingClientRect().top;
  if (!(await refetch(`/c/${conversation}/messages${which ?? shownRange(scroller)}`, "messages"))) return;
  decorate($("messages"));
  showUnsent();
  branches.restore(draft);
  if (described && $(`m-${described}`)) showReceipt(described); // that turn may have ended, too
  const again = seen && $(seen.id);
  if (stick) toBottom();
  else if (again) scroller.scrollTop += again.getBoundingClientRect().top - top;
}

/** Show the end of the conversation, whatever part the URL asked for. */
async function showEnd() {
  history.replaceState(null, "", location.pathname);
  place = placeOf(location);
  await refetchMessages("");
}

/** Turns were compacted, or will be soon. An answer that is being written stays in place. */
async function refetchFolding() {
  await refetch(`/c/${conversation}/folding`, "folding");
  if (!answer) await refetchMessages();
}

/** A turn started or ended elsewhere. */
async function refetchTurn() {
  refetchLibrarian();
  await refetchMessages();
  open();
}

/** Refresh the librarian's status in the header. */
function refetchLibrarian() {
  if (conversation) refetch(`/c/${conversation}/librarian`, "librarian");
}

async function refetchList() {
  // While the user is busy there, it waits; the focus stays on the link or menu, by its id.
  const isFree = () => !$("conversation-list").querySelector("details[open], [data-selecting]");
  if (!isFree()) return;
  await refetch(`${$("conversation-list").dataset.address}&current=${conversation}`, "conversation-list", "outerHTML", isFree);
  if (conversation) document.title = `${$("talk-header").querySelector("h1").textContent} · Recall`;
}

async function refetchAll() {
  answer = null;
  await Promise.all([refetchList(), refetchMessages()]);
  open();
}

/** Show an answer's context. What the reader opened in it stays open when the same answer's is shown again.
 * @param {number | string} id of an answer */
async function showReceipt(id) {
  described = id;
  document.querySelectorAll("[data-shown]").forEach((old) => old.removeAttribute("data-shown"));
  $(`m-${id}`)?.setAttribute("data-shown", "");
  let opened = openedParts(id);
  const look = () => ((opened = openedParts(id)), true); // on arrival: the reader may have opened one meanwhile
  const panel = temporary.panel(id);
  if (panel) htmx.swap($("receipt"), panel, { swapStyle: "innerHTML" });
  else if (!(await refetch(`/receipts/${id}`, "receipt", "innerHTML", look))) return;
  $("receipt").dataset.answer = String(id);
  for (const part of $("receipt").querySelectorAll("details")) if (opened.includes(partName(part))) part.open = true;
}

/** @param {number | string} id of an answer */
function openedParts(id) {
  if ($("receipt").dataset.answer !== String(id)) return [];
  return [...$("receipt").querySelectorAll("details[open]")].map(partName);
}

/** A part of the panel by its heading, whose figures may change. @param {Element} part */
function partName(part) {
  const heading = part.querySelector("summary");
  return heading?.getAttribute("aria-label") ?? (heading?.textContent ?? "").replace(/[\d\s.,]/g, "");
}

/** The small bar beside the composer: the latest turn's tokens and cost. */
function showBudget() {
  if (conversation) refetch(`/usage/line/${conversation}`, "budget-line");
  else $("budget-line").hidden = true;
}

/** The first message created the conversation: the page is now its page. @param {string} id */
function becomeConversation(id) {
  store(draftKey(), "");
  attachments.forget();
  conversation = id;
  temporary.offer(false);
  store(draftKey(), text.value);
  attachments.remember();
  history.pushState(null, "", `/c/${id}`);
  place = placeOf(location);
  refetchList();
}

// Another place --------

const NOTHING_YET = $("receipt").innerHTML.replace(' data-waiting=""', "");
/** What is shown in place: a new conversation, and one from its end or around a message. */
const PLACES = /^\/(?:c\/([0-9a-f-]{36})(?:\?at=\d+)?|(?:\?(?:project|role)=\d+)?)$/;
const MESSAGE = /^\/m\/\d+$/;

/** @param {URL | Location} address */
function placeOf({ pathname, search }) {
  return pathname + search;
}

/** @param {string} href @returns {boolean} whether it is shown in place; never while a temporary chat is open */
function visit(href) {
  const to = new URL(href, location.href);
  const isOfThisPage = to.hash && placeOf(to) === place; // the browser finds it
  if (to.origin !== location.origin || isOfThisPage || temporary.isOn) return false;
  if (MESSAGE.test(placeOf(to))) findMessage(to.pathname);
  else if (!PLACES.test(placeOf(to))) return false;
  else {
    if (to.href !== location.href) history.pushState(null, "", to);
    show();
  }
  return true;
}

/** The server knows the place of a message, unless it is on a page of its own. @param {string} address */
async function findMessage(address) {
  const own = ask("message");
  closeSheets();
  const response = await fetch(address, { headers: { "HX-Request": "true" } }).catch(() => null);
  const found = response?.headers.get("HX-Redirect");
  if (asked.message === own && !(found && visit(found))) location.assign(found ?? address);
}

/** Show what the URL names. The tab keeps the draft and attachments of what is left. */
async function show() {
  for (const what in asked) ask(what); // what was asked for the place before comes too late
  const [own, to, list] = [ask("place"), placeOf(location), $("conversation-list").dataset.address];
  place = described = "";
  conversation = PLACES.exec(to)?.[1] ?? "";
  closeSheets();
  branches.leave();
  temporary.offer(false);
  answer = null;
  endedAt = -ECHO;
  fill(sessionStorage.getItem(draftKey()) ?? "");
  attachments.reload();
  $("notices").replaceChildren();
  showError("");
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  if (focused?.closest("details[open]")) focused.blur(); // a header is kept while the user is in its menu
  const [, isShown] = await Promise.all([
    refetch(`${list}&current=${conversation}`, "conversation-list"),
    refetch(`/c/${conversation || "new"}/messages${location.search}`, "messages"),
  ]);
  if (asked.place !== own) return; // the user went on to the next
  if (!isShown) return location.reload();
  place = to;
  temporary.offer(!conversation);
  decorate($("messages"));
  showUnsent();
  toStart();
  document.title = `${$("talk-header").querySelector("h1").textContent} · Recall`;
  announce(document.title);
  if (!location.hash && !matchMedia("(pointer: coarse)").matches) text.focus();
  if (location.hash === "#temporary") $("temporary").click();
  const latest = $("messages").dataset.latestAnswer;
  if (latest) showReceipt(latest);
  else $("receipt").innerHTML = NOTHING_YET;
  showBudget();
  open();
  showButtons();
}

/** To the message that the URL names, which is marked; else to the end. The welcome text is read from the top. */
function toStart() {
  isAtEnd = !location.hash && !$("welcome");
  if (isAtEnd) toBottom();
  else if (location.hash) location.replace(location.hash);
  else scroller.scrollTop = 0;
}

function closeSheets() {
  for (const sheet of ["conversations", "context"]) $(sheet).hidePopover();
}

// User actions --------

/** The conversation that the messages on the page belong to. */
const shown = () => temporary.id || conversation;
const isBusy = () => answer !== null || unsent().length > 0;
/** draft.js reads it before the first paint. */
const draftKey = () => `recall-draft-${$("chat").dataset.user}-${conversation}`;

function submit() {
  if (!text.value.trim() && !attachments.ids.length) return;
  if (isBusy()) return showError(STILL_ANSWERING);
  const refusal = attachments.refusal || (temporary.isOn ? temporary.refusal(text.value) : "");
  if (refusal) return showError(refusal);
  if (temporary.isOn) connection.ask(temporary.frame(clientId(), { text: text.value }));
  else {
    const begins = conversation ? {} : choices();
    const attached = attachments.take();
    const what = { conversation: conversation || null, text: text.value, ...begins, ...(attached.length && { attachments: attached }) };
    connection.send({ type: "send", client_id: clientId(), ...what });
  }
  $("notices").replaceChildren();
  fill("");
  showError("");
  showUnsent();
  toBottom();
}

/** @param {"retry" | "continue"} type @param {any} article of the answer */
function askAgain(type, article) {
  const refusal = temporary.isOn ? temporary.refusal("") : "";
  if (refusal) return showError(refusal);
  if (isBusy()) return;
  if (temporary.isOn) connection.ask(temporary.frame(clientId(), { again: type }));
  else connection.send({ type, client_id: clientId(), message: Number(article.dataset.message) });
  showButtons();
  text.focus();
}

/** @returns {string} a random UUID; crypto.randomUUID needs TLS */
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

/** @param {string} sentence for screen readers: streamed text itself isn't announced */
function announce(sentence) {
  $("announcer").textContent = sentence;
}

function showButtons() {
  const hadFocus = document.activeElement === stop;
  if (!isBusy() && $("composer-error").textContent === STILL_ANSWERING) showError("");
  stop.hidden = answer === null;
  $("send").hidden = answer !== null;
  $("send").disabled = isBusy() || (!text.value.trim() && !attachments.ids.length);
  if (hadFocus && stop.hidden) text.focus();
}

/** A message as it was written, in Markdown; of a temporary chat, which isn't stored, as it is shown.
 * @param {any} article @returns {Promise<string>} */
async function writtenText(article) {
  const { message } = article.dataset;
  const stored = Number(message) > 0 ? await fetch(`/api/v1/turns/${message}`).catch(() => null) : null;
  if (stored?.ok) return (await stored.json()).text;
  const body = article.querySelector(".message-body");
  body.classList.add("is-read");
  const words = body.innerText;
  body.classList.remove("is-read");
  return words;
}

/** @param {Element} button with an icon, or with a word @param {string | Promise<string>} words */
async function copy(button, words) {
  const blob = Promise.resolve(words).then((text) => new Blob([text], { type: "text/plain" }));
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]); // at once: later isn't part of the click
  const use = button.querySelector("use");
  const show = (/** @type {string} */ icon, /** @type {string} */ label) => {
    if (use) use.setAttribute("href", String(use.getAttribute("href")).replace(/#.*/, `#${icon}`));
    else button.textContent = label;
  };
  show("check", "Copied");
  announce("Copied.");
  setTimeout(() => show("copy", "Copy"), 1500);
}

/** @type {Record<string, (button: any, article: any) => unknown>} */
const actions = {
  retry: (_, article) => askAgain("retry", article),
  continue: (_, article) => askAgain("continue", article),
  context(_, article) {
    if (narrow.matches) $("context").showPopover();
    else setContextClosed(false);
    showReceipt(article.dataset.message);
  },
  "toggle-conversations"(button) {
    if (phone.matches) $("conversations").showPopover({ source: button });
    else setListClosed(chat.dataset.list !== "closed");
  },
  "toggle-context"() {
    if (narrow.matches) $("context").togglePopover();
    else setContextClosed(getComputedStyle($("context")).visibility === "visible");
  },
  copy: (button, article) => copy(button, writtenText(article)),
  "copy-code": (button) => copy(button, button.parentElement.querySelector("code").textContent),
  preview: (button) => scrollAlong(() => togglePreview(button)),
  edit: (_, article) => branches.edit(article),
  "leave-edit"() {
    branches.leave();
    text.focus();
  },
  example(button) {
    const isUnfinished = button.textContent.includes("…"); // the dots are for the user to complete
    fill(button.textContent.replace("…", ""));
    if (!isUnfinished) submit();
    text.focus();
  },
};

/** @param {boolean} isClosed kept in a cookie, so that the server renders it */
function setContextClosed(isClosed) {
  chat.dataset.context = isClosed ? "closed" : "open";
  document.cookie = `context=${chat.dataset.context}; path=/; max-age=31536000; samesite=lax`;
}

/** @param {boolean} isClosed kept in a cookie, too */
function setListClosed(isClosed) {
  if (isClosed && $("conversations").contains(document.activeElement)) $("toggle-conversations").focus();
  if (isClosed) chat.dataset.list = "closed";
  else delete chat.dataset.list;
  document.cookie = `list=closed; path=/; max-age=${isClosed ? 31536000 : 0}; samesite=lax`;
}

chat.addEventListener("click", (/** @type {any} */ event) => {
  const button = event.target.closest("[data-action]");
  const isElsewhere = event.ctrlKey || event.metaKey; // a link in a new tab
  if (!button || !actions[button.dataset.action] || isElsewhere) return;
  if (button.href) event.preventDefault();
  actions[button.dataset.action](button, button.closest(".message"));
});
composer.addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  submit();
});
text.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  if (event.key === "ArrowUp" && !text.value && !event.isComposing) {
    event.preventDefault();
    return branches.editLast();
  }
  const isTouch = matchMedia("(pointer: coarse)").matches; // no Shift+Enter there: Enter inserts a new line
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || isTouch) return;
  event.preventDefault();
  submit();
});
text.addEventListener("input", () => {
  if (!temporary.isOn) store(draftKey(), text.value);
  if (!CSS.supports("field-sizing", "content")) text.rows = Math.min(12, text.value.split("\n").length);
  showButtons();
});
stop.addEventListener("click", () => connection.ask({ type: "stop", conversation: shown() }));
// When the composer grows (the budget line, files, a longer text), keep a reader at the end at the end.
let isAtEnd = !location.hash && !$("welcome");
const showJump = () => ($("jump").hidden = isAtEnd = isAtBottom());
scroller.addEventListener("scroll", showJump, { passive: true });
// Messages come and go without a scroll, too.
new IntersectionObserver(showJump, { root: scroller, rootMargin: `0px 0px ${AT_BOTTOM}px` }).observe($("messages-end"));
new ResizeObserver(() => isAtEnd && !$("welcome") && toBottom()).observe(scroller);
$("jump").addEventListener("click", async () => {
  if (document.querySelector(".more-later")) await showEnd();
  toBottom();
});
document.addEventListener("refused", (/** @type {any} */ event) => showError(event.detail.value));
loadMoreOnScroll(scroller, htmx, () => {
  decorate($("messages"));
  if (!document.querySelector(".more-later")) showUnsent();
});
narrow.addEventListener("change", closeSheets);
onVisit(visit);
addEventListener("popstate", () => {
  if (placeOf(location) === place) return; // a link to a message of this page
  if (PLACES.test(placeOf(location)) && !temporary.isOn) show();
  else location.reload();
});
/** Where the focus goes back to when a new header has replaced what had it. */
let headerFocus = "";
document.addEventListener("htmx:oobBeforeSwap", (/** @type {any} */ event) => {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  if (!event.detail.target.contains(focused)) return;
  if (focused.closest("details[open]")) event.preventDefault(); // the user is in the menu, perhaps typing a title
  else if (focused.id) headerFocus = `#${focused.id}`;
  else if (focused.parentElement?.id) headerFocus = `#${focused.parentElement.id} > ${focused.localName}`;
});
document.addEventListener("htmx:oobAfterSwap", () => {
  if (headerFocus) /** @type {HTMLElement | null} */ (document.querySelector(headerFocus))?.focus();
  headerFocus = "";
});
document.addEventListener("recall:list", refetchList);
setInterval(() => answer && !answer.live && open(), POLL_EVERY);

chat.classList.toggle("without-clipboard", !navigator.clipboard); // it needs TLS
decorate(document);
showUnsent();
if (!location.hash && !$("welcome")) toBottom(); // the welcome text is read from the top
if ($("messages").dataset.latestAnswer) showReceipt($("messages").dataset.latestAnswer);
showButtons();
