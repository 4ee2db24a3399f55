// @ts-check
/**
 * Inline editing: a click opens the editor at that word, Ctrl-Enter saves; the box grows with its text. Escape: page.js.
 * The page works without it: the editor is a `<details>` with a form.
 */

/** The editor's text box. @param {Element | null | undefined} part @returns {HTMLTextAreaElement | null} */
function boxOf(part) {
  return part?.querySelector("[data-editor] textarea") ?? null;
}

/** @param {Element} part @param {string} line the text that was clicked @param {number} offset */
function open(part, line = "", offset = 0) {
  const details = part.querySelector("[data-editor]");
  const box = boxOf(part);
  if (!(details instanceof HTMLDetailsElement) || !box) return;
  details.open = true;
  grow(box);
  box.focus();
  const at = line.trim() ? box.value.indexOf(line.trim()) : -1;
  const place = at < 0 ? box.value.length : at + Math.min(Math.max(offset, 0), line.trim().length);
  box.setSelectionRange(place, place);
}

/** For browsers without `field-sizing`. @param {HTMLTextAreaElement} box */
function grow(box) {
  if (CSS.supports("field-sizing", "content")) return;
  box.rows = Math.max(box.defaultValue ? 4 : 2, box.value.split("\n").length + 1);
}

/** The text node under the pointer and the place in it. @param {MouseEvent} event @returns {[string, number]} */
function wordAt(event) {
  const found = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  if (found?.offsetNode.nodeType === Node.TEXT_NODE) {
    const text = found.offsetNode.textContent ?? "";
    return [text, found.offset - (text.length - text.trimStart().length)];
  }
  const range = document.caretRangeFromPoint?.(event.clientX, event.clientY);
  const text = range?.startContainer.textContent ?? "";
  return range?.startContainer.nodeType === Node.TEXT_NODE ? [text, range.startOffset] : ["", 0];
}

document.addEventListener("click", (event) => {
  const target = event.target;
  if (!(target instanceof Element) || target.closest("a, button, summary, input, details")) return;
  const part = target.closest("[data-read]")?.closest("[data-editable]");
  if (!part || String(getSelection())) return; // the user is selecting text to copy
  open(part, ...wordAt(event));
});

document.addEventListener(
  "toggle",
  (event) => {
    const details = event.target;
    if (!(details instanceof HTMLDetailsElement) || !details.matches("[data-editor]") || !details.open) return;
    const box = details.querySelector("textarea");
    if (!box || details.contains(document.activeElement) === false) return;
    grow(box);
    if (document.activeElement !== box) box.focus();
  },
  { capture: true },
);

document.addEventListener("input", (event) => {
  if (event.target instanceof HTMLTextAreaElement && event.target.matches("[data-grows]")) grow(event.target);
});

document.addEventListener("keydown", (event) => {
  if (!(event.target instanceof Element) || event.isComposing) return;
  const details = event.target.closest("[data-editor][open]");
  if (!details || event.target.matches("summary")) return;
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const save = details.querySelector("[data-save]");
  if (save instanceof HTMLButtonElement) save.click();
  event.preventDefault();
});

/** Whether an editor, open or closed, has unsaved text. */
function hasUnsaved() {
  return [...document.querySelectorAll("[data-editor] textarea")].some(
    (box) => box instanceof HTMLTextAreaElement && box.value !== box.defaultValue,
  );
}

let isSaving = false;
document.addEventListener("submit", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-editor]")) isSaving = true;
});
document.addEventListener("htmx:afterRequest", () => (isSaving = false));
window.addEventListener("beforeunload", (event) => {
  if (!isSaving && hasUnsaved()) event.preventDefault();
});

for (const part of document.querySelectorAll("[data-editable]")) part.classList.add("can-click");
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target instanceof Element) event.target.closest("[data-editable]")?.classList.add("can-click");
});
// A page that was opened to edit: the cursor goes behind the text.
const asked = document.querySelector("[data-editor][open] textarea[autofocus]")?.closest("[data-editable]");
if (asked) open(asked);
