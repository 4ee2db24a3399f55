// @ts-check
/**
 * The command palette (Ctrl K, ⌘ K) and single-key shortcuts, both defined in chat/pages/palette.py. The server renders
 * the palette's options; the shortcuts are data attributes of the dialog.
 * An ARIA 1.2 combobox: the focus stays in the field, `aria-activedescendant` names the selected option.
 */

const WAIT = 120; // ms after the last keystroke

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const [dialog, input, list, count] = ["palette", "palette-input", "palette-list", "palette-count"].map($);
const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);

/** @type {AbortController | null} */ let asking = null;
let timer = 0;
let isWaiting = false; // what is shown answers an earlier text
let isEntered = false; // Enter was pressed meanwhile: it chooses the first result when it comes

// Opening --------

function open() {
  if (dialog.open) return input.select();
  document.querySelectorAll(":popover-open").forEach((one) => /** @type {HTMLElement} */ (one).hidePopover());
  input.value = "";
  list.replaceChildren(); // never the results of last time: Enter would run one of them
  isEntered = false;
  dialog.showModal();
  input.focus();
  refresh();
}

/** The conversation of this page, which the commands apply to. */
const here = () => location.pathname.match(/^\/c\/([0-9a-f-]{36})$/)?.[1] ?? "";

async function refresh() {
  isWaiting = true;
  asking?.abort();
  const own = (asking = new AbortController());
  const query = new URLSearchParams({ q: input.value, at: here() });
  const address = `${dialog.dataset.from}?${query}`;
  const response = await fetch(address, { signal: own.signal }).catch(() => null);
  if (response?.redirected) return location.reload(); // signed out
  const html = response?.ok ? await response.text().catch(() => null) : null; // may be aborted halfway
  if (own !== asking) return; // superseded by another keystroke
  isWaiting = false;
  if (html !== null) show(html); // else offline: keep the list
}

/** @param {string} html rendered by the server */
function show(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  list.replaceChildren(...template.content.childNodes);
  list.scrollTop = 0;
  choose(options()[0]);
  if (isEntered && dialog.open) return chosen()?.click();
  const many = options().length;
  count.textContent = many === 1 ? "1 result" : `${many} results`;
}

// Choosing --------

/** @returns {HTMLElement[]} */
const options = () => [...list.querySelectorAll('[role="option"]')];
const chosen = () => list.querySelector('[aria-selected="true"]');

/** @param {HTMLElement | undefined} option */
function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) input.setAttribute("aria-activedescendant", option.id);
  else input.removeAttribute("aria-activedescendant");
}

/** @param {number} steps */
function move(steps) {
  const all = options();
  const at = all.indexOf(/** @type {HTMLElement} */ (chosen()));
  choose(all[(at + steps + all.length) % all.length]);
}

/** @param {HTMLElement | null} option */
function run(option) {
  if (!option) return;
  const { href, send, opens, themeChoice } = option.dataset;
  dialog.close();
  if (opens) return openMenu(opens);
  if (themeChoice !== undefined) return; // page.js handles the click
  if (send !== undefined) return submit(href ?? "", new URLSearchParams(send));
  if (href?.includes("#temporary") && turnOnTemporary()) return;
  go(href ?? "/");
}

/** The chat page shows what it can in place. @param {string} href */
function go(href) {
  const visit = new CustomEvent("recall:visit", { detail: href, cancelable: true });
  if (document.dispatchEvent(visit)) location.assign(href);
}

/** @param {string} address @param {URLSearchParams} fields */
function submit(address, fields) {
  const form = document.createElement("form");
  form.method = "post";
  form.action = address;
  const token = /** @type {any} */ (document.querySelector("[name=csrfmiddlewaretoken]")).value;
  for (const [name, value] of [["csrfmiddlewaretoken", token], ...fields]) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  document.body.append(form);
  form.submit();
}

/** @param {string} selector of a menu; its first field gets the focus */
function openMenu(selector) {
  const menu = document.querySelector(selector);
  menu?.setAttribute("open", "");
  const field = /** @type {HTMLInputElement | null} */ (menu?.querySelector("input:not([type=hidden])"));
  field?.focus();
  field?.select();
}

/** Turn on Temporary on the empty chat page. @returns {boolean} whether there is a switch */
function turnOnTemporary() {
  const box = $("temporary");
  if (!box?.checkVisibility()) return false;
  if (!box.checked) box.click();
  return true;
}

input?.addEventListener("input", () => {
  clearTimeout(timer);
  asking?.abort();
  asking = null; // what it says is about an earlier text
  isWaiting = true;
  isEntered = false;
  timer = setTimeout(refresh, WAIT);
});
input?.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  if (event.isComposing) return;
  const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }[event.key];
  if (steps) move(steps);
  else if (event.key === "Enter" && isWaiting) isEntered = true;
  else if (event.key === "Enter") chosen()?.click();
  else return;
  event.preventDefault();
});
list?.addEventListener("click", (/** @type {any} */ event) => run(event.target.closest('[role="option"]')));
list?.addEventListener("mousemove", (/** @type {any} */ event) => {
  const option = event.target.closest('[role="option"]');
  if (option && option !== chosen()) choose(option);
});
dialog?.addEventListener("click", (/** @type {Event} */ event) => event.target === dialog && dialog.close());
document.addEventListener("click", (/** @type {any} */ event) => {
  if (!event.target.closest?.("[data-palette]") || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  open();
});

// Keys --------

const TYPING = "input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]";

/** @param {KeyboardEvent} event */
function isForPalette(event) {
  const isAlone = !event.altKey && !event.shiftKey && event.ctrlKey !== event.metaKey;
  return isAlone && event.key.toLowerCase() === "k";
}

/** The target of a single-key shortcut; the review page has its own keys. @param {KeyboardEvent} event */
function targetOfKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.dataset.singleKeys === "off") return null;
  if (dialog.open || $("keys") || /** @type {Element} */ (event.target).closest?.(TYPING)) return null;
  return /** @type {HTMLElement | null} */ (dialog.querySelector(`[data-key="${CSS.escape(event.key)}"]`));
}

/** @param {HTMLElement} target */
function follow({ dataset: { focus, href } }) {
  const found = focus ? [...document.querySelectorAll(focus)].find((one) => one.checkVisibility()) : null;
  if (found instanceof HTMLButtonElement) found.click();
  else if (found instanceof HTMLElement) found.focus();
  else if (href) go(href);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || !dialog) return;
  if (isForPalette(event)) {
    event.preventDefault();
    return open();
  }
  const target = targetOfKey(event);
  if (!target) return;
  event.preventDefault();
  follow(target);
});

if (isMac) document.querySelectorAll(".find .kbd").forEach((one) => (one.textContent = "⌘ K"));
if (location.hash === "#temporary") addEventListener("load", () => turnOnTemporary());
