// @ts-check
/** Links, and choices in the palette, that a page shows in place of what it shows now. */

/** @param {(href: string) => boolean} visit whether it is shown in place; else the browser loads it */
export function onVisit(visit) {
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a");
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey; // a new tab or window, a download
    if (!(link instanceof HTMLAnchorElement) || isElsewhere || link.target || event.defaultPrevented) return;
    if (visit(link.href)) event.preventDefault();
  });
  document.addEventListener("recall:visit", (/** @type {any} */ event) => visit(event.detail) && event.preventDefault());
}
