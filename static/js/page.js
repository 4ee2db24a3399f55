// @ts-check
/** What every page does: the choice of theme, menus that close, and a plain sentence when a request fails. */

const YEAR = 365 * 24 * 3600;

/** @param {string} theme "light", "dark", or "" for the system's own */
function chooseTheme(theme) {
  // A cookie, not localStorage: the server then renders the right theme, and no page flashes.
  document.cookie = `theme=${theme}; path=/; max-age=${theme ? YEAR : 0}; samesite=lax`;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  markTheme();
}

function markTheme() {
  const current = document.documentElement.dataset.theme ?? "";
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.getAttribute("data-theme-choice") === current));
  }
}

/** @param {EventTarget | null} except close all menus but the one this lies in */
function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!(except instanceof Node && menu.contains(except))) menu.removeAttribute("open");
  }
}

/** @param {string} sentence */
function notice(sentence) {
  const line = document.createElement("p");
  line.className = "notice notice-error";
  line.textContent = sentence;
  document.getElementById("notices")?.replaceChildren(line);
}

document.addEventListener("click", (event) => {
  closeMenus(event.target);
  const choice = event.target instanceof Element && event.target.closest("[data-theme-choice]");
  if (choice) chooseTheme(choice.getAttribute("data-theme-choice") ?? "");
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const open = document.querySelector("details.menu[open]");
  if (open?.contains(document.activeElement)) open.querySelector("summary")?.focus();
  closeMenus(null);
});

document.addEventListener("htmx:beforeSwap", (event) => {
  // Signed out meanwhile: the answer is the sign-in page, which belongs into the window and not into a part of it.
  const { xhr } = /** @type {CustomEvent} */ (event).detail;
  if (!xhr.responseURL?.includes("/accounts/login/")) return;
  event.preventDefault();
  location.reload();
});
document.addEventListener("htmx:responseError", (event) => {
  const { status } = /** @type {CustomEvent} */ (event).detail.xhr;
  if (status === 403) notice("That was refused: this page may be older than your sign-in. Nothing was changed; please load it again.");
  else if (status !== 404) notice(`That did not work (${status}). Nothing was changed; please try again.`);
});
document.addEventListener("htmx:sendError", () => notice("Recall cannot be reached. Please try again in a moment."));

for (const input of document.querySelectorAll("input[data-time-zone]")) {
  if (input instanceof HTMLInputElement) input.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
}
markTheme();
