// @ts-check
/**
 * The document tree: drag a document or folder onto a folder to move it, drop files on a folder to upload them. The server
 * responds with the new tree and an undo line. Every page has forms that do the same.
 */

/** The drag data type: the dragged path; files from the desktop have none. */
const TYPE = "application/x-recall-path";
/** A folder opens after this long under the pointer, so that passing over it doesn't. */
const OPENS_AFTER_MS = 700;

const tree = document.getElementById("tree");
const form = /** @type {HTMLFormElement | null} */ (tree?.querySelector("form[data-drop-form]") ?? null);
const sent = tree?.querySelector("progress[data-dropping]");
const message = () => document.getElementById("tree-told");

/** The dragged path: during `dragover` a page can't read the drag's data. */
let dragged = "";
/** @type {HTMLElement | null} */
let over = null;
let opening = 0;

// Targets ------------------------------------------------------------------------------------------------------------

/** The folder that a drop here goes to. @param {EventTarget | null} target @returns {HTMLElement | null} */
function folderAt(target) {
  if (!(target instanceof Element)) return null;
  const folder = target.closest("[data-folder]");
  if (folder instanceof HTMLElement) return folder;
  return target.closest("#tree-of-documents") ? document.querySelector("#tree-of-documents > [data-folder]") : null;
}

/** @param {string} path */
function nameOf(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** @param {string} folder @param {string} name */
function joined(folder, name) {
  return `${folder === "/" ? "" : folder}/${name}`;
}

/** Whether the dragged item may move there: not to its own folder, not into itself. @param {HTMLElement} folder */
function canMoveTo(folder) {
  const path = folder.dataset.path ?? "/";
  const to = joined(path, nameOf(dragged));
  return to !== dragged && !`${path}/`.startsWith(`${dragged}/`);
}

/** @param {DragEvent} event */
function hasFiles(event) {
  return !dragged && (event.dataTransfer?.types.includes("Files") ?? false);
}

/** @param {HTMLElement | null} folder */
function highlight(folder) {
  if (folder === over) return;
  over?.classList.remove("is-over");
  clearTimeout(opening);
  over = folder;
  over?.classList.add("is-over");
  const details = over?.querySelector(":scope > details");
  if (details && !details.hasAttribute("open")) {
    opening = window.setTimeout(() => details.setAttribute("open", ""), OPENS_AFTER_MS);
  }
}

/** @param {string} sentence */
function showError(sentence) {
  const line = document.createElement("p");
  line.className = "errorlist";
  line.textContent = sentence;
  message()?.replaceChildren(line);
}

// Moving ------------------------------------------------------------------------------------------------------------

tree?.addEventListener("dragstart", (event) => {
  const item = event.target instanceof Element ? event.target.closest("li[data-path]") : null;
  if (!(item instanceof HTMLElement) || !event.dataTransfer) return;
  dragged = item.dataset.path ?? "";
  event.dataTransfer.setData(TYPE, dragged);
  event.dataTransfer.effectAllowed = "move";
  item.classList.add("is-dragged");
  tree.classList.add("is-dragging");
});

tree?.addEventListener("dragend", () => {
  dragged = "";
  highlight(null);
  tree.classList.remove("is-dragging");
  for (const item of tree.querySelectorAll(".is-dragged")) item.classList.remove("is-dragged");
});

for (const name of ["dragenter", "dragover"]) {
  tree?.addEventListener(name, (happened) => {
    const event = /** @type {DragEvent} */ (happened);
    const folder = folderAt(event.target);
    const canDrop = folder && (dragged ? canMoveTo(folder) : hasFiles(event));
    highlight(canDrop ? folder : null);
    if (!canDrop) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = dragged ? "move" : "copy";
  });
}

tree?.addEventListener("dragleave", (event) => {
  if (!(event.relatedTarget instanceof Node && tree.contains(event.relatedTarget))) highlight(null);
});

tree?.addEventListener("drop", (event) => {
  const folder = folderAt(event.target);
  const files = event.dataTransfer?.files;
  if (!folder || (!dragged && !files?.length)) return;
  event.preventDefault();
  highlight(null);
  if (dragged) move(dragged, joined(folder.dataset.path ?? "/", nameOf(dragged)));
  else if (files) send(files, folder.dataset.path ?? "");
});

/** @param {string} path @param {string} to */
function move(path, to) {
  const values = { path, to, here: tree?.dataset.here ?? "" };
  // @ts-ignore: htmx is a global of the page
  window.htmx.ajax("POST", tree?.dataset.move ?? "", { target: "#tree-of-documents", swap: "innerHTML", values });
}

// Files -------------------------------------------------------------------------------------------------------------

/** @param {FileList} files @param {string} folder */
function send(files, folder) {
  const input = /** @type {HTMLInputElement | null} */ (form?.querySelector("input[type=file]") ?? null);
  const where = /** @type {HTMLInputElement | null} */ (form?.querySelector("input[name=folder]") ?? null);
  if (!form || !input || !where) return;
  const largest = Number(form.dataset.largest);
  const big = [...files].find(({ size }) => size > largest);
  if (big) return showError(`${big.name} is ${(big.size / 1e6).toFixed(1)} MB. The limit is ${largest / 1e6} MB.`);
  message()?.replaceChildren();
  input.files = files;
  where.value = folder === "/" ? "" : folder;
  form.requestSubmit();
}

form?.addEventListener("htmx:xhr:progress", (event) => {
  const { loaded, total, lengthComputable } = /** @type {CustomEvent} */ (event).detail;
  if (!(sent instanceof HTMLProgressElement) || !lengthComputable) return;
  sent.hidden = false;
  sent.value = loaded / total;
});
form?.addEventListener("htmx:afterRequest", () => {
  if (sent instanceof HTMLProgressElement) sent.hidden = true;
  form.reset();
});

// Restore the state of a replaced tree: open folders and the current page -------------------------------------------

/** @type {Set<string>} */
let open = new Set();

function remember() {
  const folders = [...document.querySelectorAll("#tree-of-documents li[data-folder]")];
  open = new Set(
    folders.filter((one) => one.querySelector(":scope > details[open]")).map((one) => one.getAttribute("data-path") ?? ""),
  );
}

function restore() {
  for (const folder of document.querySelectorAll("#tree-of-documents li[data-folder]")) {
    if (open.has(folder.getAttribute("data-path") ?? "")) folder.querySelector("details")?.setAttribute("open", "");
  }
  const here = tree?.dataset.here;
  const item = here && `#tree-of-documents li[data-path="${CSS.escape(here)}"]`;
  const current = item && (document.querySelector(`${item} > a`) ?? document.querySelector(`${item} > details > summary`));
  if (current) current.setAttribute("aria-current", "page");
  makeFoldersDraggable();
}

/** Links are draggable by default, a folder's summary isn't. */
function makeFoldersDraggable() {
  for (const summary of document.querySelectorAll("#tree-of-documents li[data-folder] > details > summary")) {
    summary.setAttribute("draggable", "true");
  }
}

document.addEventListener("htmx:beforeSwap", (event) => {
  if (event.target instanceof Element && event.target.id === "tree-of-documents") remember();
});
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  if (event.target instanceof Element && event.target.id === "tree-of-documents") remember();
});
document.addEventListener("htmx:afterSettle", restore);
document.addEventListener("htmx:oobAfterSwap", restore);
makeFoldersDraggable();
tree?.querySelector("[data-drag-hint]")?.removeAttribute("hidden");
