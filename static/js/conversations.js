// @ts-check
/**
 * The conversation list: a row's menu is fetched when opened, all boxes can be checked at once, and the focus follows the
 * action. Without it, the same things are links and forms.
 */

const htmx = /** @type {any} */ (window).htmx;
const list = () => /** @type {HTMLElement} */ (document.getElementById("conversation-list"));

/** @param {HTMLElement} sheet */
async function fill(sheet) {
  const link = sheet.querySelector("a[data-sheet]");
  if (link) await htmx.ajax("GET", link.getAttribute("href"), { target: sheet, swap: "innerHTML" });
  sheet.scrollIntoView({ block: "nearest" });
}

document.addEventListener(
  "toggle", // doesn't bubble: listen in the capture phase
  (event) => {
    const menu = /** @type {HTMLDetailsElement} */ (event.target);
    if (!(menu instanceof HTMLDetailsElement) || !list().contains(menu)) return;
    if (menu.open) fill(/** @type {HTMLElement} */ (menu.querySelector(".menu-sheet")));
    else document.dispatchEvent(new CustomEvent("recall:list")); // apply updates that arrived while it was open
  },
  true,
);

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest("[data-tick]");
  if (!link) return;
  event.preventDefault();
  for (const box of list().querySelectorAll("input[name=conversation]")) {
    /** @type {HTMLInputElement} */ (box).checked = link.getAttribute("data-tick") === "all";
  }
  countSelected();
});

/** Show how many are selected. Without one there is nothing to archive or delete. */
function countSelected() {
  const form = document.querySelector("[data-selecting]");
  const line = /** @type {HTMLElement | null} */ (form?.querySelector("[data-count]"));
  if (!form || !line) return;
  const count = form.querySelectorAll("input[name=conversation]:checked").length;
  line.hidden = false;
  line.textContent = `${count} selected`;
  for (const button of form.querySelectorAll("button")) button.disabled = !count;
}
countSelected();
document.addEventListener("change", countSelected);
document.addEventListener("htmx:afterSettle", countSelected);

// On a phone the list is a sheet: open it if the address asks for archived conversations or for boxes.
if (list().hasAttribute("data-asked") && matchMedia("(max-width: 46rem)").matches) {
  /** @type {HTMLElement} */ (document.getElementById("conversations")).showPopover();
}

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !list().contains(document.activeElement)) return;
  const leave = list().querySelector("a[data-leave]");
  if (leave && !list().querySelector("details[open]")) /** @type {HTMLElement} */ (leave).click();
});

/** Where the focus goes when its element is replaced: to Undo, to the row, or to the conversation's menu. */
let cameFrom = "";
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt } = /** @type {CustomEvent} */ (event).detail;
  if (!list().contains(elt) && !elt.closest("#talk-header, #notices")) return;
  const row = elt.closest(".list-row")?.querySelector("a");
  /** @type {HTMLElement} */ (document.activeElement).blur(); // lets the swap replace a focused title field
  cameFrom = row ? `#conversation-list a[href="${row.getAttribute("href")}"]` : "#conversation-menu > summary";
});
document.addEventListener("htmx:afterSettle", () => {
  if (document.activeElement !== document.body || !cameFrom) return;
  const next = document.querySelector("[data-undo]") ?? document.querySelector(cameFrom) ?? list().querySelector("a, input");
  /** @type {HTMLElement | null} */ (next)?.focus();
  cameFrom = "";
});

/** @type {HTMLElement | null} */ (document.querySelector("[data-undo]"))?.focus();
