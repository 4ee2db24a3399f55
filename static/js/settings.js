// @ts-check
/** The settings: offer the browser's time zone, copy buttons, and whether diagrams are previewed without asking. */

const OFFERED = "[data-browser-zone]";

/** @param {ParentNode} within */
function offerZone(within) {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const button of within.querySelectorAll(OFFERED)) {
    const input = button.closest(".field")?.querySelector("input");
    const name = button.querySelector("span");
    if (!own || !input || !name) continue;
    name.textContent = own;
    button.toggleAttribute("hidden", input.value === own);
  }
}

/** @param {Element} button */
function takeZone(button) {
  const input = button.closest(".field")?.querySelector("input");
  if (!input) return;
  input.value = button.querySelector("span")?.textContent ?? input.value;
  button.setAttribute("hidden", "");
  input.focus();
}

/** @param {Element} button */
async function copy(button) {
  const source = document.getElementById(button.getAttribute("data-copy") ?? "");
  const text = source instanceof HTMLInputElement ? source.value : (source?.innerText ?? "");
  const label = button.querySelector("span");
  try {
    await navigator.clipboard.writeText(text);
    if (label) label.textContent = "Copied";
  } catch {
    if (source instanceof HTMLInputElement) source.select(); // permission denied: select the text, for Ctrl-C
  }
}

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest("button") : null;
  if (button?.matches(OFFERED)) takeZone(button);
  else if (button?.matches("[data-copy]")) copy(button);
});
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.matches("[data-previews]")) return;
  document.cookie = `previews=auto; path=/; max-age=${target.checked ? 31536000 : 0}; samesite=lax`; // read by previews.js
});
document.addEventListener("htmx:afterSettle", () => offerZone(document));

offerZone(document);
// Not scrollIntoView: it would also have the Tab key start there, behind the skip link.
const current = /** @type {HTMLElement | null} */ (document.querySelector(".settings-nav [aria-current]"));
const tabs = current?.closest(".settings-nav");
if (current && tabs) tabs.scrollLeft += current.getBoundingClientRect().left - tabs.getBoundingClientRect().left - (tabs.clientWidth - current.offsetWidth) / 2;
if (navigator.clipboard) for (const button of document.querySelectorAll("[data-copy]")) button.removeAttribute("hidden");
