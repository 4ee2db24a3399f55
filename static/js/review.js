// @ts-check
/**
 * The review queue by keyboard. The page works without it: this only moves the focus, presses the buttons that are
 * there, and says in a status line what happened. Keys count while the focus is in the queue, never while typing.
 */

/** @typedef {HTMLElement & {dataset: {state: string, announce: string}}} Row */

const queue = document.querySelector("[data-queue]");
const status = document.getElementById("queue-status");
const help = document.getElementById("keys");

/** The row decided last on this page: what `u` takes back. @type {string} */
let lastDecided = "";

/** From the press of a button until its answer stands in the page and the focus has moved on. */
let isDeciding = false;

/** Keys pressed meanwhile: they mean the row that comes next. @type {string[]} */
const ahead = [];

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
  for (const other of rows()) other.tabIndex = other === row ? 0 : -1;
  row.focus();
  row.scrollIntoView({ block: "nearest" });
}

/** @param {number} by */
function move(by) {
  const all = rows();
  const now = current();
  const place = now ? all.indexOf(now) + by : 0;
  focus(all[Math.min(Math.max(place, 0), all.length - 1)]);
}

/** The next row that still waits, or the last one before it. @param {Row} row */
function nextWaiting(row) {
  const all = rows();
  const place = all.indexOf(row);
  const waits = (/** @type {Row} */ other) => other.dataset.state === "proposed";
  return all.slice(place + 1).find(waits) ?? all.slice(0, place).reverse().find(waits) ?? row;
}

/** @param {ParentNode | null | undefined} where @param {string} key */
function press(where, key) {
  const button = where?.querySelector(`[data-key="${key}"]`);
  if (button instanceof HTMLElement) button.click();
  return button !== null && button !== undefined;
}

function edit() {
  const details = current()?.querySelector("[data-edit]");
  if (!(details instanceof HTMLDetailsElement)) return;
  details.open = true;
  details.querySelector("textarea")?.focus();
}

function undo() {
  const decided = document.getElementById(lastDecided);
  press(current(), "u") || press(decided, "u") || press(document.querySelector("[data-recent]"), "u");
}

function toggleHelp() {
  if (help instanceof HTMLDetailsElement) help.open = !help.open;
}

/** @type {Record<string, () => void>} */
const KEYS = {
  j: () => move(1),
  ArrowDown: () => move(1),
  k: () => move(-1),
  ArrowUp: () => move(-1),
  a: () => press(current(), "a"),
  e: edit,
  r: () => press(current(), "r"),
  u: undo,
  "?": toggleHelp,
};

/** @param {KeyboardEvent} event @param {Row | undefined} row */
function whileTyping(event, row) {
  if (event.key === "Escape") {
    row?.querySelector("[data-edit]")?.removeAttribute("open");
    focus(row);
  } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const save = row?.querySelector("[data-save]");
    if (save instanceof HTMLElement) save.click();
  } else {
    return;
  }
  event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (!(target instanceof HTMLElement) || event.defaultPrevented || event.isComposing) return;
  if (target.closest("[data-fact] textarea, [data-fact] input")) return whileTyping(event, current());
  if (!(isDeciding || queue?.contains(target)) || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  if (isDeciding) ahead.push(event.key);
  else act();
});

document.addEventListener("htmx:beforeRequest", () => (isDeciding = true));
document.addEventListener("htmx:afterRequest", (event) => {
  if (/** @type {CustomEvent} */ (event).detail.successful) return;
  isDeciding = false;
  ahead.length = 0; // whoever pressed them did not know
});

// A row that came back from the server says what was done; the focus goes on to the next one that waits.
document.addEventListener("htmx:afterSettle", (event) => {
  const row = event.target instanceof Element ? /** @type {Row | null} */ (event.target.closest("[data-fact]")) : null;
  if (!row) return;
  if (status) status.textContent = row.dataset.announce;
  const isWaiting = row.dataset.state === "proposed";
  if (!isWaiting) lastDecided = row.id;
  focus(isWaiting ? row : nextWaiting(row));
  if (row.querySelector("[data-edit][open]")) edit();
  isDeciding = false;
  while (ahead.length && !isDeciding) KEYS[ahead.shift() ?? ""]();
});

const linked = rows().find((row) => `#${row.id}` === location.hash);
if (rows().length) focus(linked ?? rows()[0]);
