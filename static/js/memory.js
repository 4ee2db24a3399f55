// @ts-check
/**
 * The memory page: search keeps its URL current; files can be dropped on the form, with a size check and a progress bar.
 * The page works without it.
 */

const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form[data-upload]"));
const zone = form?.querySelector("[data-drop]");
const input = /** @type {HTMLInputElement | null | undefined} */ (form?.querySelector("input[type=file]"));
const refused = form?.querySelector("[data-refused]");
const sent = form?.querySelector("progress");

/** Why the first file that is too large is refused; empty if none is. @param {FileList | null} files */
function sizeError(files) {
  const largest = Number(form?.dataset.largest);
  const file = [...(files ?? [])].find(({ size }) => size > largest);
  return file ? `${file.name} is ${(file.size / 1e6).toFixed(1)} MB. The limit is ${largest / 1e6} MB.` : "";
}

/** @param {Event} event */
function check(event) {
  const sentence = sizeError(input?.files ?? null);
  if (refused) refused.textContent = sentence;
  if (!sentence || event.type !== "submit") return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** @param {DragEvent} event */
function hasFiles(event) {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

form?.querySelector("[data-drop-hint]")?.removeAttribute("hidden");
input?.addEventListener("change", check);
form?.addEventListener("submit", check, { capture: true });

for (const name of ["dragenter", "dragover"]) {
  zone?.addEventListener(name, (event) => {
    if (!hasFiles(/** @type {DragEvent} */ (event))) return;
    event.preventDefault();
    zone.classList.add("is-over");
  });
}
zone?.addEventListener("dragleave", (event) => {
  const { relatedTarget } = /** @type {DragEvent} */ (event);
  if (!(relatedTarget instanceof Node && zone.contains(relatedTarget))) zone.classList.remove("is-over");
});
zone?.addEventListener("drop", (event) => {
  const { dataTransfer } = /** @type {DragEvent} */ (event);
  if (!dataTransfer?.files.length || !input) return;
  event.preventDefault();
  zone.classList.remove("is-over");
  input.files = dataTransfer.files;
  form?.requestSubmit();
});

form?.addEventListener("htmx:xhr:progress", (event) => {
  const { loaded, total, lengthComputable } = /** @type {CustomEvent} */ (event).detail;
  if (!sent || !lengthComputable) return;
  sent.hidden = false;
  sent.value = loaded / total;
});
form?.addEventListener("htmx:afterRequest", (event) => {
  if (sent) sent.hidden = true;
  if (/** @type {CustomEvent} */ (event).detail.successful) form.reset();
});

const search = document.querySelector("form[role=search]");
const AGAIN = 1000; // milliseconds after an answer from which a press of Search asks the same again
let asked = "";
let answered = "";
let answeredAt = 0;
search?.addEventListener("htmx:configRequest", (event) => {
  const { parameters, triggeringEvent } = /** @type {CustomEvent} */ (event).detail;
  for (const [name, value] of Object.entries(parameters)) if (value === "") delete parameters[name];
  asked = JSON.stringify(Object.entries(parameters));
  // Enter is a change, a submission and the end of typing, which each ask: the same results again would take the focus
  // out of them.
  const isPressed = triggeringEvent?.type === "submit" && performance.now() - answeredAt > AGAIN;
  if (asked === answered && !isPressed) event.preventDefault();
});
search?.addEventListener("htmx:afterRequest", (event) => {
  // htmx's history is off (it would store whole pages); the URL alone is enough for a reload or a bookmark.
  const { xhr, successful } = /** @type {CustomEvent} */ (event).detail;
  if (!successful) return;
  answered = asked;
  answeredAt = performance.now();
  history.replaceState(history.state, "", xhr.responseURL);
});
