// @ts-check
/** On every page: the theme, menus that close, and a message when a request fails. */

const YEAR = 365 * 24 * 3600;

/** @param {string} theme "light", "dark", or "" for the system's own */
function chooseTheme(theme) {
  // A cookie, not localStorage: the server renders the right theme, so the page doesn't flash.
  document.cookie = `theme=${theme}; path=/; max-age=${theme ? YEAR : 0}; samesite=lax`;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  updateThemeButtons();
}

function updateThemeButtons() {
  const current = document.documentElement.dataset.theme ?? "";
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.getAttribute("data-theme-choice") === current));
  }
}

/** @param {EventTarget | null} except its menu stays open */
function closeMenus(except) {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!(except instanceof Node && menu.contains(except))) menu.removeAttribute("open");
  }
}

/** @param {string} sentence */
function showNotice(sentence) {
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

document.addEventListener("focusin", ({ target }) => {
  closeMenus(target); // Tab has left the menu
  if (target instanceof HTMLInputElement && target.list) import("./suggest.js").then(({ suggest }) => suggest(target));
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.target instanceof HTMLOptionElement) return; // there it closes the list
  const open = document.querySelector("details.menu[open]");
  if (open?.contains(document.activeElement)) open.querySelector("summary")?.focus();
  closeMenus(null);
});

// A button that unfolds a form or details: its first field gets the focus, and Escape closes it again.
const FIELDS = "input:not([type=hidden], [type=file], [type=checkbox], [type=radio]), textarea";
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.matches("[open]:not(.menu):has(> summary.button:focus)")) return;
    const first = target.querySelector("input:not([type=hidden]), select, textarea, button");
    if (first instanceof HTMLElement && first.matches(FIELDS)) first.focus();
  },
  true,
);
// On the window: a page that has its own Escape comes first.
addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || !(event.target instanceof Element)) return;
  const details = event.target.closest("details[open]:not(.menu):has(> summary.button)");
  const summary = details?.querySelector("summary");
  if (!details || !summary || event.target.closest("details.menu[open]")) return;
  event.preventDefault(); // one thing at a time: the sheet around it stays open
  details.removeAttribute("open");
  summary.focus();
});

document.addEventListener(
  "toggle", // doesn't bubble: listen in the capture phase
  ({ target }) => target instanceof Element && target.matches("details.menu[open]") && target.querySelector(".menu-sheet")?.scrollIntoView({ block: "nearest" }),
  true,
);
document.addEventListener("submit", ({ target }) => target instanceof Element && target.closest("[data-closes]") && closeMenus(null));

/** A button that shows what is typed; sent as a password, so that browsers offer to save it. @param {HTMLButtonElement} button */
function showReveal(button) {
  const input = /** @type {HTMLInputElement} */ (button.previousElementSibling);
  const reveal = (/** @type {boolean} */ isShown) => {
    input.type = isShown ? "text" : "password";
    /** @type {Element} */ (button.firstElementChild).textContent = isShown ? "Hide" : "Show";
  };
  input.spellcheck = false;
  input.autocapitalize = "none";
  input.form?.addEventListener("submit", () => reveal(false));
  button.addEventListener("click", () => reveal(input.type === "password"));
  button.hidden = false;
}
for (const button of document.querySelectorAll("[data-reveal]")) showReveal(/** @type {HTMLButtonElement} */ (button));

// Signing in: the field to type in next has the focus, but on touch, where a keyboard would cover the page.
if (document.activeElement === document.body && !matchMedia("(pointer: coarse)").matches) {
  const field = (/** @type {string} */ which) => /** @type {HTMLElement | null} */ (document.querySelector(`.entrance input${which}`));
  (field('[aria-invalid="true"]') ?? field(":placeholder-shown"))?.focus();
}

/** A file field in Recall's words instead of the browser's, which lies over them unseen. @param {HTMLInputElement} input */
function showFileField(input) {
  const [line, button, chosen] = ["span", "span", "span"].map((tag) => document.createElement(tag));
  button.ariaHidden = "true";
  button.className = "button button-small";
  button.textContent = input.multiple ? "Choose files" : "Choose a file";
  chosen.role = "status";
  const show = (sentence = "") => {
    const names = [...(input.files ?? [])].map((file) => file.name);
    chosen.className = sentence ? "errorlist" : "muted";
    chosen.textContent = sentence || (names.length > 2 ? `${names.length} files` : names.join(", "));
  };
  input.addEventListener("change", () => show());
  input.form?.addEventListener("reset", () => setTimeout(show));
  input.addEventListener("invalid", (event) => {
    event.preventDefault();
    show("Choose a file first.");
    input.focus();
  });
  line.className = "row file-field";
  input.before(line);
  line.append(input, button, chosen);
}
for (const input of document.querySelectorAll('.field > input[type="file"]')) showFileField(/** @type {HTMLInputElement} */ (input));

/** Why a field can't be sent, as its page says it; other reasons in the browser's words. @param {HTMLInputElement} field */
function invalidSentence({ validity, type, min, validationMessage }) {
  if (validity.badInput) return "Enter a number.";
  if (validity.valueMissing) return "Fill in this field.";
  if (validity.typeMismatch && type === "email") return "Enter an email address, such as name@example.org.";
  if (validity.rangeUnderflow) return `Enter ${min} or more.`;
  return validationMessage;
}

/** The reason below the field instead of in the browser's bubble, until the field changes. @param {HTMLInputElement} field */
function showInvalid(field) {
  const line = document.createElement("p");
  const described = field.getAttribute("aria-describedby");
  line.className = "errorlist";
  line.id = `${field.id || field.name}-invalid`;
  line.role = "alert";
  const row = field.closest(".row");
  if (row) row.after(line);
  else (field.closest(".field") ?? field.parentElement)?.append(line);
  line.textContent = invalidSentence(field); // once it is there: only a change of it is read out
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", [line.id, described].filter(Boolean).join(" "));
  field.addEventListener(
    "input",
    () => {
      line.remove();
      field.removeAttribute("aria-invalid");
      if (described) field.setAttribute("aria-describedby", described);
      else field.removeAttribute("aria-describedby");
    },
    { once: true },
  );
}

document.addEventListener(
  "invalid", // doesn't bubble
  (event) => {
    const field = /** @type {HTMLInputElement} */ (event.target);
    if (field.type === "file") return; // showFileField says it
    event.preventDefault();
    if (!document.getElementById(`${field.id || field.name}-invalid`)) showInvalid(field);
    if (field === [...(field.form?.elements ?? [])].find((one) => one.matches(":is(input, textarea, select):invalid"))) field.focus();
  },
  true,
);

document.addEventListener("htmx:beforeSwap", (event) => {
  // The user was signed out meanwhile: the response is the sign-in page. Reload instead of swapping it into the page.
  const { xhr } = /** @type {CustomEvent} */ (event).detail;
  if (!xhr.responseURL?.includes("/accounts/login/")) return;
  event.preventDefault();
  location.reload();
});
document.addEventListener("htmx:responseError", (event) => {
  const { status } = /** @type {CustomEvent} */ (event).detail.xhr;
  if (status === 403) showNotice("This page has expired. Reload it and try again. Nothing was changed.");
  else if (status !== 404) showNotice(`Something went wrong (${status}). Nothing was changed. Try again.`);
});
document.addEventListener("htmx:sendError", () => showNotice("Can't reach Recall. Try again in a moment."));

for (const input of document.querySelectorAll("input[data-time-zone]")) {
  if (input instanceof HTMLInputElement) input.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone;
}
updateThemeButtons();
