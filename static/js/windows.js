// @ts-check
/** A long conversation comes in parts: what is earlier, or later, is fetched when the reader comes near, and nobody is moved. */

const NEAR = "900px 0px"; // about a screen before it is reached, so that reading does not wait

/** @param {any} scroller @param {any} htmx @param {() => void} changed messages came in */
export function bringMore(scroller, htmx, changed) {
  /** Distance from the end, which what comes in above does not change. */
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

/** The message at the top of what one sees. @param {any} scroller @returns {any} */
export function firstSeen(scroller) {
  const top = scroller.getBoundingClientRect().top;
  const articles = [...scroller.querySelectorAll(".message[data-message]")];
  return articles.find((article) => article.getBoundingClientRect().bottom > top) ?? articles[0];
}

/** The query that fetches what is shown once more: all of it, or what is around the reader. @param {any} scroller */
export function whatIsShown(scroller) {
  const seen = firstSeen(scroller);
  if (scroller.querySelector(".more-later")) return seen ? `?at=${seen.dataset.message}` : "";
  return `?since=${scroller.querySelector(".more-earlier")?.dataset.cursor ?? 0}`;
}
