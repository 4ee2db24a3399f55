// @ts-check
/** Infinite scroll in both directions: more messages are fetched near either end, without moving the reader. */

const NEAR = "900px 0px"; // fetch about one screen ahead

/** @param {any} scroller @param {any} htmx @param {() => void} changed called after messages were added */
export function loadMoreOnScroll(scroller, htmx, changed) {
  /** Scroll distance from the end: it doesn't change when messages are added above. */
  let fromEnd = -1;
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) htmx.trigger(target.querySelector("a"), "near");
      }
    },
    { root: scroller, rootMargin: NEAR },
  );
  const watch = () => scroller.querySelectorAll(".more").forEach((/** @type {Element} */ end) => observer.observe(end));

  document.addEventListener("htmx:beforeSwap", (event) => {
    const { target } = /** @type {CustomEvent} */ (event).detail;
    if (!target.matches(".more")) return;
    if (target.contains(document.activeElement)) scroller.focus({ preventScroll: true });
    fromEnd = target.matches(".more-earlier") ? scroller.scrollHeight - scroller.scrollTop : -1;
  });
  document.addEventListener("htmx:afterSwap", () => {
    if (fromEnd >= 0) scroller.scrollTop = scroller.scrollHeight - fromEnd;
    fromEnd = -1;
    observer.disconnect();
    watch();
    changed();
  });
  watch();
}

/** The topmost visible message. @param {any} scroller @returns {any} */
export function firstVisible(scroller) {
  const top = scroller.getBoundingClientRect().top;
  const articles = [...scroller.querySelectorAll(".message[data-message]")];
  return articles.find((article) => article.getBoundingClientRect().bottom > top) ?? articles[0];
}

/** The query that refetches what is shown: all of it, or the part around the reader. @param {any} scroller */
export function shownRange(scroller) {
  const seen = firstVisible(scroller);
  if (scroller.querySelector(".more-later")) return seen ? `?at=${seen.dataset.message}` : "";
  return `?since=${scroller.querySelector(".more-earlier")?.dataset.cursor ?? 0}`;
}
