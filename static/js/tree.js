// @ts-check
/**
 * The tree of documents: drag a document or folder onto a folder to move it, drop files on a folder to bring them in.
 * The server moves, and answers with the tree and a line that undoes it. Every page has forms that do the same.
 */

/** What is being dragged, and where from; files of the desktop have no path. */
const TYPE = "application/x-recall-path";
/** A folder one waits over opens: long enough not to open each one the pointer crosses. */
const OPENS_AFTER_MS = 700;

const tree = document.getElementById("tree");
const form = /** @type {HTMLFormElement | null} */ (tree?.querySelector("form[data-drop-form]") ?? null);
const sent = tree?.querySelector("progress[data-dropping]");
const told = () => document.getElementById("tree-told");

/** The path that is being dragged: during `dragover` a page may not read what a drag holds. */
let dragged = "";
/** @type {HTMLElement | null} */
let over = null;
let opening = 0;

// Places ------------------------------------------------------------------------------------------------------------

/** The folder that something dropped here would go to. @param {EventTarget | null} target @returns {HTMLElement | null} */
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

/** Whether what is dragged may go there: not where it is, not into itself. @param {HTMLElement} folder */
function mayMoveTo(folder) {
  const path = folder.dataset.path ?? "/";
  const to = joined(path, nameOf(dragged));
  return to !== dragged && !`${path}/`.startsWith(`${dragged}/`);
}

/** @param {DragEvent} event */
function holdsFiles(event) {
  return !dragged && (event.dataTransfer?.types.includes("Files") ?? false);
}

/** @param {HTMLElement | null} folder */
function mark(folder) {
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
function tell(sentence) {
  const line = document.createElement("p");
  line.className = "errorlist";
  line.textContent = sentence;
  told()?.replaceChildren(line);
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
  mark(null);
  tree.classList.remove("is-dragging");
  for (const item of tree.querySelectorAll(".is-dragged")) item.classList.remove("is-dragged");
});

for (const name of ["dragenter", "dragover"]) {
  tree?.addEventListener(name, (happened) => {
    const event = /** @type {DragEvent} */ (happened);
    const folder = folderAt(event.target);
    const may = folder && (dragged ? mayMoveTo(folder) : holdsFiles(event));
    mark(may ? folder : null);
    if (!may) return;
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = dragged ? "move" : "copy";
  });
}

tree?.addEventListener("dragleave", (event) => {
  if (!(event.relatedTarget instanceof Node && tree.contains(event.relatedTarget))) mark(null);
});

tree?.addEventListener("drop", (event) => {
  const folder = folderAt(event.target);
  const files = event.dataTransfer?.files;
  if (!folder || (!dragged && !files?.length)) return;
  event.preventDefault();
  mark(null);
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
  if (big) return tell(`${big.name} has ${(big.size / 1e6).toFixed(1)} MB; ${largest / 1e6} MB are the limit.`);
  told()?.replaceChildren();
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

// A tree that comes anew looks as it did: the same folders are open, the page one reads is marked. --------------------

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
  if (here) document.querySelector(`#tree-of-documents li[data-path="${CSS.escape(here)}"] > a`)?.setAttribute("aria-current", "page");
  draggable();
}

/** Links can be dragged by themselves; what stands for a folder only if it is told to. */
function draggable() {
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
draggable();
tree?.querySelector("[data-drag-hint]")?.removeAttribute("hidden");
