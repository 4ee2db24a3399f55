// @ts-check
/** Inside the frame of a diagram's preview: draw it, and tell the page its height. */

const mermaid = /** @type {any} */ (globalThis).mermaid;
const [diagram, source] = ["diagram", "source"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));
const isDark = location.hash === "#dark";

document.documentElement.style.colorScheme = isDark ? "dark" : "light";
mermaid.initialize({
  startOnLoad: false,
  securityLevel: "strict",
  theme: isDark ? "dark" : "neutral",
  suppressErrorRendering: true,
  ...(isDark && { themeVariables: { edgeLabelBackground: "#131211" } }), // as the page behind it: its own gray is hard to read on
});
mermaid.render("drawn", source.textContent).then(
  (/** @type {{svg: string}} */ { svg }) => {
    diagram.innerHTML = svg;
    const links = [...diagram.querySelectorAll("a")]; // pressed, they could connect
    for (const name of ["href", "xlink:href"]) links.forEach((link) => link.removeAttribute(name));
  },
  () => (diagram.textContent = "This diagram can't be drawn: its code has a mistake."),
);
new ResizeObserver(() => parent.postMessage({ height: document.documentElement.getBoundingClientRect().height }, "*")).observe(
  document.documentElement,
);
