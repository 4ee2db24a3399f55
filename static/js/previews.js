// @ts-check
/** Previews of code in finished answers, each in a sandboxed frame of its own (recall/rendering/previews.py). */

const [LOWEST, LOWEST_PAGE, HIGHEST] = [48, 160, 640]; // px
const NAMES = { svg: "image", html: "page", mermaid: "diagram" };
const BUTTON = `<button type="button" class="button button-quiet button-small code-preview" data-action="preview">Preview</button>`;

/** Frames whose document tells its height. @type {Set<HTMLIFrameElement>} */
const frames = new Set();

/** Add a button to a block of a finished, stored answer. @param {Element} code */
export function addPreview(code) {
  const article = /** @type {HTMLElement | null} */ (code.closest(".message"));
  const isStored = Number(article?.dataset.message) > 0 && article?.dataset.status !== "streaming";
  if (!isStored || !code.matches("[data-preview]") || code.querySelector(".code-preview")) return;
  code.insertAdjacentHTML("beforeend", BUTTON);
  const isDiagram = code.matches('[data-language="mermaid" i], [data-language="svg" i]');
  if (isDiagram && isWithoutAsking()) setTimeout(() => code.isConnected && togglePreview(code.querySelector(".code-preview")));
}

/** The choice in the settings: for images and diagrams, not for pages. */
const isWithoutAsking = () => document.cookie.split("; ").includes("previews=auto");

/** Show the preview instead of the code, or the code again. @param {any} button */
export function togglePreview(button) {
  const code = button.closest(".code");
  const frame = code.querySelector("iframe");
  if (frame) {
    frames.delete(frame);
    frame.remove();
  } else code.append(preview(code));
  code.classList.toggle("is-previewed", !frame);
  button.textContent = frame ? "Preview" : "Code";
}

/** @param {HTMLElement} code */
function preview(code) {
  const kind = /** @type {keyof typeof NAMES} */ (code.dataset.language?.toLowerCase());
  const message = /** @type {HTMLElement} */ (code.closest(".message")).dataset.message;
  const frame = document.createElement("iframe");
  frame.loading = "lazy";
  frame.title = `Preview of the ${NAMES[kind]}`;
  frame.setAttribute("sandbox", kind === "svg" ? "" : "allow-scripts");
  frame.src = `/m/${message}/preview/${code.dataset.preview}${kind === "mermaid" && isDark() ? "#dark" : ""}`;
  frame.height = String(kind === "svg" ? heightOf(code) : kind === "html" ? heightOfPage(code) : HIGHEST / 2);
  if (kind !== "mermaid") frame.toggleAttribute("data-dimmed", isDark()); // drawn for a white page
  else frame.dataset.scheme = isDark() ? "dark" : "light";
  if (kind !== "svg") frames.add(frame);
  return frame;
}

/** An image's height in its block: that of an empty one with the same size and proportions. @param {HTMLElement} code */
function heightOf(code) {
  const tag = code.querySelector("code")?.textContent?.match(/<svg[^>]*>/i)?.[0] ?? "";
  const written = tag.replace(/\sstyle\s*=/i, " data-style="); // the page's policy refuses styles in markup
  const root = new DOMParser().parseFromString(written, "text/html").querySelector("svg");
  const empty = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const name of ["width", "height", "viewBox"]) {
    const value = root?.getAttribute(name);
    if (value) empty.setAttribute(name, value);
  }
  const { style } = document.createElement("i");
  style.cssText = root?.dataset.style ?? "";
  Object.assign(empty.style, { width: style.width, height: style.height });
  code.append(empty);
  const { width, height } = empty.getBoundingClientRect();
  empty.remove();
  return clamp(height * Math.min(1, code.clientWidth / (width || 1)));
}

/** A page's height until it tells its own, which it can't where its scripts don't run. @param {Element} code */
function heightOfPage(code) {
  const blocks = code.querySelector("code")?.textContent?.match(/<(?:h\d|p|li|tr|div|section|pre|img|svg|canvas|form|input|button)\b/gi) ?? [];
  return clamp(Math.min(HIGHEST / 2, Math.max(LOWEST_PAGE, 48 * (blocks.length + 1))));
}

/** @param {number} height */
const clamp = (height) => Math.ceil(Math.min(HIGHEST, Math.max(LOWEST, height)));

function isDark() {
  const schemes = getComputedStyle(document.documentElement).colorScheme.split(" ");
  return schemes.includes("dark") && (!schemes.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches);
}

addEventListener("message", ({ source, data }) => {
  for (const frame of frames) {
    if (!frame.isConnected) frames.delete(frame);
    else if (source === frame.contentWindow && Number.isFinite(data?.height)) frame.height = String(clamp(data.height));
  }
});
