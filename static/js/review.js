// @ts-check
/**
 * The review queue by keyboard. The page works without it: this only moves the focus, presses buttons and announces
 * what happened. Keys work while the focus is in the queue, never while typing.
 *
 * A response is one row, the whole queue (after a bulk decision), or the merge form.
 */

/** @typedef {HTMLElement & {dataset: {state: string, announce: string}}} Row */

const status = document.getElementById("queue-status");
const help = document.getElementById("keys");

/** Quick decisions are announced together: a screen reader would cut each one short. */
const PAUSE_MS = 200;

/** The row decided last: `u` undoes it. Empty: the notice above the queue, or the latest in the list below. @type {string} */
let lastDecided = "";

/** Index of the focused row, kept for when the whole queue is replaced. */
let place = 0;

/** True from a button press until its response is shown and the focus has moved. */
let isDeciding = false;

/** Keys pressed meanwhile: they apply to the next row. @type {string[]} */
const ahead = [];

/** @returns {Element | null} */
function queue() {
  return document.querySelector("[data-queue]");
}

/** @returns {Row[]} */
function rows() {
  return [...document.querySelectorAll("[data-fact]")].map((row) => /** @type {Row} */ (row));
}

/** The focused row. @returns {Row | undefined} */
function current() {
  return rows().find((row) => row.contains(document.activeElement)) ?? rows().find((row) => row.tabIndex === 0);
}

/** Focus a row; only one row is in the tab order. @param {Row | undefined} row */
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
function isPending(row) {
  return row.dataset.state === "proposed";
}

/** The next pending row, or else the last one before it. @param {Row} row */
function nextPending(row) {
  const all = rows();
  const at = all.indexOf(row);
  return all.slice(at + 1).find(isPending) ?? all.slice(0, at).reverse().find(isPending) ?? row;
}

// Announcements -----------------------------------------------------------------------------------------------------------

/** Decisions since the last announcement. */
let decided = 0;
let announcing = 0;

/** @param {string | undefined} sentence @param {number} decisions how many decisions it is about */
function announce(sentence, decisions = 0) {
  if (!sentence) return;
  decided += decisions;
  clearTimeout(announcing);
  announcing = setTimeout(() => {
    if (status) status.textContent = decided > 1 ? `${decided} decisions. Last: ${sentence}` : sentence;
    decided = 0;
  }, PAUSE_MS);
}

/** Seconds the Undo toast is shown; the row keeps its own Undo button. */
const TOAST_S = 12;
const toast = document.getElementById("undo-toast");
let hiding = 0;

/** @param {string} sentence empty hides the toast */
function offerUndo(sentence) {
  clearTimeout(hiding);
  if (!toast) return;
  toast.hidden = !sentence;
  const words = toast.querySelector("[data-toast-words]");
  if (words) words.textContent = sentence;
  if (sentence) hiding = window.setTimeout(() => (toast.hidden = true), TOAST_S * 1000);
}

// Actions ----------------------------------------------------------------------------------------------------------

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

/** Decide on all selected rows, or else on the focused one. @param {string} key */
function decide(key) {
  if (selected().length) press(document, `[data-bulk="${key}"]`);
  else press(current(), `[data-key="${key}"]`);
}

function select() {
  const box = current()?.querySelector("[data-select]");
  if (!(box instanceof HTMLInputElement)) return;
  box.checked = !box.checked;
  announceSelected();
}

function announceSelected() {
  const count = selected().length;
  const line = document.querySelector("[data-selected]");
  if (line) line.textContent = count ? `${count} selected:` : "Selected:";
  announce(count ? `${count} selected` : "None selected");
}

/** A single row can be merged with existing facts. */
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

/** @param {KeyboardEvent} event @param {Element} form the form being filled in @param {() => void} leave */
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
  // The form may be shown before it has the focus.
  if (event.key === "Escape" && document.querySelector("[data-merge-form]")) return leaveMerging();
  if (!(isDeciding || queue()?.contains(target)) || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  if (isDeciding) ahead.push(event.key);
  else act();
});

document.addEventListener("change", (event) => {
  if (event.target instanceof Element && event.target.matches("[data-select]")) announceSelected();
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

// Scroll an opened editor into view. The event doesn't bubble.
document.addEventListener(
  "toggle",
  (event) => {
    if (event.target instanceof HTMLDetailsElement && event.target.matches("[data-edit][open]")) {
      event.target.scrollIntoView({ block: "nearest" });
    }
  },
  true,
);

// Tabbing into a row makes it current. Not on mouse press: what is under the pointer must not move before release.
document.addEventListener("focusin", (event) => {
  if (!(event.target instanceof Element) || !event.target.matches(":focus-visible")) return;
  const row = /** @type {Row | null} */ (event.target.closest("[data-fact]"));
  if (!row || row.tabIndex === 0) return;
  for (const other of rows()) other.tabIndex = other === row ? 0 : -1;
  place = rows().indexOf(row);
});

// Responses -----------------------------------------------------------------------------------------------------------

/** The buttons for several decide on what still waits, and say how many that are. */
function countWaiting() {
  for (const form of document.querySelectorAll(".group-head form, .kinds form")) {
    const inputs = [...form.querySelectorAll("input")].filter((input) => input.name === "fact");
    for (const input of inputs) {
      const row = /** @type {Row | null} */ (document.getElementById(`fact-${input.value}`));
      input.disabled = row !== null && row.dataset.state !== "proposed";
    }
    const waiting = inputs.filter((input) => !input.disabled).length;
    for (const count of form.querySelectorAll("[data-count]")) count.textContent = String(waiting);
    form.toggleAttribute("hidden", waiting < (form.closest(".kinds") ? 1 : 2));
  }
}

document.addEventListener("htmx:beforeRequest", () => (isDeciding = true));
document.addEventListener("htmx:afterRequest", (event) => {
  const { successful, xhr } = /** @type {CustomEvent} */ (event).detail;
  if (successful || xhr.status === 409 || xhr.status === 422) return; // those responses are swapped in and settle, too
  isDeciding = false;
  ahead.length = 0; // they were pressed before the failure was known
});

/** One row was replaced: announce the decision, focus the next pending row. @param {Row} row */
function onRow(row) {
  announce(row.dataset.announce, 1);
  if (!isPending(row)) lastDecided = row.id;
  offerUndo(row.querySelector('[data-key="u"]') ? row.dataset.announce : "");
  focus(isPending(row) ? row : nextPending(row));
  if (!rows().some(isPending)) document.querySelector(".done")?.scrollIntoView({ block: "center" });
  if (row.querySelector("[data-edit][open]")) edit();
}

/** @param {Element} element */
function isInView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}

/** The queue was replaced: focus a pending row near the old position. @param {HTMLElement} fresh */
function onQueue(fresh) {
  announce(fresh.dataset.announce, 1);
  lastDecided = "";
  const all = rows();
  const waiting = all.slice(place).find(isPending) ?? all.filter(isPending).pop();
  const told = fresh.querySelector("[data-told]");
  if (waiting) focus(waiting);
  else if (told instanceof HTMLElement) told.focus();
  const button = told?.querySelector('[data-key="u"]');
  offerUndo(waiting && button && !isInView(button) ? (fresh.dataset.announce ?? "") : "");
}

/** @param {HTMLElement} form */
function onMergeForm(form) {
  announce(form.dataset.announce);
  const first = form.querySelector("input[type=radio]:checked, textarea");
  if (first instanceof HTMLElement) first.focus();
}

document.addEventListener("htmx:afterSettle", (event) => {
  if (!(event.target instanceof HTMLElement)) return;
  const row = /** @type {Row | null} */ (event.target.closest("[data-fact]"));
  const form = event.target.closest("[data-merge]")?.querySelector("[data-merge-form]");
  if (row) onRow(row);
  else if (form instanceof HTMLElement) onMergeForm(form);
  else if (event.target.matches("[data-queue]")) onQueue(event.target);
  else return;
  countWaiting();
  isDeciding = false;
  while (ahead.length && !isDeciding) KEYS[ahead.shift() ?? ""]();
});

// Only the current row is expanded; the style sheet does that from the first paint. Scroll only for a link to a row.
const linked = rows().find((row) => `#${row.id}` === location.hash);
if (linked) focus(linked);
else rows()[0]?.focus({ preventScroll: true });
