// @ts-check
/**
 * The review queue by keyboard. The page works without it: this only moves the focus, presses the buttons that are
 * there, and says in a status line what happened. Keys count while the focus is in the queue, never while typing.
 *
 * An answer of the server is either one row, or the whole queue (several were decided), or the form for merging.
 */

/** @typedef {HTMLElement & {dataset: {state: string, announce: string}}} Row */

const status = document.getElementById("queue-status");
const help = document.getElementById("keys");

/** Quick decisions are told together: a screen reader would cut each short for the next. */
const PAUSE_MS = 200;

/** The row decided last on this page: what `u` takes back. Empty: what stands above the queue, or in the list below. @type {string} */
let lastDecided = "";

/** Where the focus was when several were decided: the queue is a new one then. */
let place = 0;

/** From the press of a button until its answer stands in the page and the focus has moved on. */
let isDeciding = false;

/** Keys pressed meanwhile: they mean the row that comes next. @type {string[]} */
const ahead = [];

/** @returns {Element | null} */
function queue() {
  return document.querySelector("[data-queue]");
}

/** @returns {Row[]} */
function rows() {
  return [...document.querySelectorAll("[data-fact]")].map((row) => /** @type {Row} */ (row));
}

/** The row the focus is in. @returns {Row | undefined} */
function current() {
  return rows().find((row) => row.contains(document.activeElement)) ?? rows().find((row) => row.tabIndex === 0);
}

/** One row at a time is in the tab order. @param {Row | undefined} row */
function focus(row) {
  if (!row) return;
  const all = rows();
  for (const other of all) other.tabIndex = other === row ? 0 : -1;
  place = all.indexOf(row);
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

/** @param {number} by */
function move(by) {
  const all = rows();
  const now = current();
  const at = now ? all.indexOf(now) + by : 0;
  focus(all[Math.min(Math.max(at, 0), all.length - 1)]);
}

/** @param {Row} row */
function waits(row) {
  return row.dataset.state === "proposed";
}

/** The next row that still waits, or the last one before it. @param {Row} row */
function nextWaiting(row) {
  const all = rows();
  const at = all.indexOf(row);
  return all.slice(at + 1).find(waits) ?? all.slice(0, at).reverse().find(waits) ?? row;
}

// Telling -----------------------------------------------------------------------------------------------------------

/** The last sentence is told, and how many decisions there were since one was told. */
let decided = 0;
let telling = 0;

/** @param {string | undefined} sentence @param {number} decisions how many decisions it tells of */
function tell(sentence, decisions = 0) {
  if (!sentence) return;
  decided += decisions;
  clearTimeout(telling);
  telling = setTimeout(() => {
    if (status) status.textContent = decided > 1 ? `${decided} decisions. The last: ${sentence}` : sentence;
    decided = 0;
  }, PAUSE_MS);
}

/** Seconds the line with “Undo” stands at the foot of the window; the row keeps its own button after that. */
const TOAST_S = 12;
const toast = document.getElementById("undo-toast");
let hiding = 0;

/** @param {string} sentence empty: nothing is left to be undone */
function offerUndo(sentence) {
  clearTimeout(hiding);
  if (!toast) return;
  toast.hidden = !sentence;
  const words = toast.querySelector("[data-toast-words]");
  if (words) words.textContent = sentence;
  if (sentence) hiding = window.setTimeout(() => (toast.hidden = true), TOAST_S * 1000);
}

// Pressing ----------------------------------------------------------------------------------------------------------

/** @param {ParentNode | null | undefined} where @param {string} what a selector @returns {boolean} */
function press(where, what) {
  const button = where?.querySelector(what);
  if (button instanceof HTMLElement) button.click();
  return button instanceof HTMLElement;
}

/** @returns {HTMLInputElement[]} */
function selected() {
  return [...document.querySelectorAll("[data-select]:checked")].map((box) => /** @type {HTMLInputElement} */ (box));
}

/** The same key decides on all that are selected, or else on the row with the focus. @param {string} key */
function decide(key) {
  if (selected().length) press(document, `[data-bulk="${key}"]`);
  else press(current(), `[data-key="${key}"]`);
}

function select() {
  const box = current()?.querySelector("[data-select]");
  if (!(box instanceof HTMLInputElement)) return;
  box.checked = !box.checked;
  tellSelected();
}

function tellSelected() {
  const count = selected().length;
  const line = document.querySelector("[data-selected]");
  if (line) line.textContent = count ? `${count} selected:` : "Selected:";
  tell(count ? `${count} selected` : "None selected");
}

/** One alone may be merged with what is known already. */
function merge() {
  const box = current()?.querySelector("[data-select]");
  if (!selected().length && box instanceof HTMLInputElement) box.checked = true;
  press(document, '[data-bulk="m"]');
}

function edit() {
  const details = current()?.querySelector("[data-edit]");
  if (!(details instanceof HTMLDetailsElement)) return;
  details.open = true;
  details.querySelector("textarea")?.focus();
}

function undo() {
  offerUndo("");
  press(current(), '[data-key="u"]') ||
    press(lastDecided ? document.getElementById(lastDecided) : null, '[data-key="u"]') ||
    press(document.querySelector("[data-told]"), '[data-key="u"]') ||
    press(document.querySelector("[data-recent]"), '[data-key="u"]');
}

function toggleHelp() {
  if (help instanceof HTMLDetailsElement) help.open = !help.open;
}

function leaveMerging() {
  const panel = document.querySelector("[data-merge]");
  if (!panel?.firstElementChild) return;
  panel.replaceChildren();
  focus(rows()[place] ?? rows()[0]);
}

/** @type {Record<string, () => void>} */
const KEYS = {
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
  a: () => decide("a"),
  r: () => decide("r"),
  b: () => press(current(), '[data-key="b"]'),
  n: () => press(current(), '[data-key="n"]'),
  e: edit,
  x: select,
  m: merge,
  u: undo,
  "?": toggleHelp,
};

/** @param {KeyboardEvent} event @param {Element} form what is being filled in @param {() => void} leave */
function whileTyping(event, form, leave) {
  if (event.key === "Escape") leave();
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) press(form, "[data-save]");
  else return;
  event.preventDefault();
}

/** @param {Row | undefined} row */
function leaveEditing(row) {
  row?.querySelector("[data-edit]")?.removeAttribute("open");
  focus(row);
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (!(target instanceof HTMLElement) || event.defaultPrevented || event.isComposing) return;
  const merging = target.closest("[data-merge-form]");
  if (merging) return whileTyping(event, merging, leaveMerging);
  const row = current();
  if (row && target.matches("[data-fact] textarea, [data-fact] input:not([type=checkbox])")) {
    return whileTyping(event, row, () => leaveEditing(row));
  }
  // The form may stand there a moment before the focus has come to it.
  if (event.key === "Escape" && document.querySelector("[data-merge-form]")) return leaveMerging();
  if (!(isDeciding || queue()?.contains(target)) || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  if (isDeciding) ahead.push(event.key);
  else act();
});

document.addEventListener("change", (event) => {
  if (event.target instanceof Element && event.target.matches("[data-select]")) tellSelected();
});

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  if (event.target.closest("[data-toast-undo]")) return undo();
  const row = /** @type {Row | null} */ (event.target.closest("[data-fact]"));
  if (row && row.tabIndex !== 0 && !event.target.closest("input, button, a, summary")) return focus(row);
  if (!event.target.closest("[data-merge] [data-leave]")) return;
  event.preventDefault();
  leaveMerging();
});

// Whoever opens the editor sees all of it. The event does not bubble.
document.addEventListener(
  "toggle",
  (event) => {
    if (event.target instanceof HTMLDetailsElement && event.target.matches("[data-edit][open]")) {
      event.target.scrollIntoView({ block: "nearest" });
    }
  },
  true,
);

// Whoever comes to a row by Tab, as to its box to select it, sees all of it. Not who presses a mouse button: what is
// below the pointer must not move before it is let go.
document.addEventListener("focusin", (event) => {
  if (!(event.target instanceof Element) || !event.target.matches(":focus-visible")) return;
  const row = /** @type {Row | null} */ (event.target.closest("[data-fact]"));
  if (!row || row.tabIndex === 0) return;
  for (const other of rows()) other.tabIndex = other === row ? 0 : -1;
  place = rows().indexOf(row);
});

// Answers -----------------------------------------------------------------------------------------------------------

document.addEventListener("htmx:beforeRequest", () => (isDeciding = true));
document.addEventListener("htmx:afterRequest", (event) => {
  const { successful, xhr } = /** @type {CustomEvent} */ (event).detail;
  if (successful || xhr.status === 409 || xhr.status === 422) return; // those are answers, too, and settle
  isDeciding = false;
  ahead.length = 0; // whoever pressed them did not know
});

/** A row says what was done; the focus goes on to the next one that waits. @param {Row} row */
function rowAnswered(row) {
  tell(row.dataset.announce, 1);
  if (!waits(row)) lastDecided = row.id;
  offerUndo(row.querySelector('[data-key="u"]') ? row.dataset.announce : "");
  focus(waits(row) ? row : nextWaiting(row));
  if (!rows().some(waits)) document.querySelector(".done")?.scrollIntoView({ block: "center" });
  if (row.querySelector("[data-edit][open]")) edit();
}

/** A new queue: the focus stays at its height, on something that waits. @param {HTMLElement} fresh */
function queueAnswered(fresh) {
  tell(fresh.dataset.announce, 1);
  lastDecided = "";
  offerUndo(fresh.querySelector('[data-told] [data-key="u"]') ? (fresh.dataset.announce ?? "") : "");
  const all = rows();
  const waiting = all.slice(place).find(waits) ?? all.filter(waits).pop();
  const told = fresh.querySelector("[data-told]");
  if (waiting) focus(waiting);
  else if (told instanceof HTMLElement) told.focus();
}

/** @param {HTMLElement} form */
function mergeAnswered(form) {
  tell(form.dataset.announce);
  const first = form.querySelector("input[type=radio]:checked, textarea");
  if (first instanceof HTMLElement) first.focus();
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (!(event.target instanceof HTMLElement)) return;
  const row = /** @type {Row | null} */ (event.target.closest("[data-fact]"));
  const form = event.target.closest("[data-merge]")?.querySelector("[data-merge-form]");
  if (row) rowAnswered(row);
  else if (form instanceof HTMLElement) mergeAnswered(form);
  else if (event.target.matches("[data-queue]")) queueAnswered(event.target);
  else return;
  isDeciding = false;
  while (ahead.length && !isDeciding) KEYS[ahead.shift() ?? ""]();
});

// One stands in full, the others by what they say: the eye has one thing to judge. The style sheet sees to that from the
// first paint on, wherever scripts run. The page is not moved for it, but for who came by a link to one of them.
const linked = rows().find((row) => `#${row.id}` === location.hash);
if (linked) focus(linked);
else rows()[0]?.focus({ preventScroll: true });
