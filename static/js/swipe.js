// @ts-check
/**
 * Deciding on a proposal by finger: to the right presses its accepting button, to the left Reject. Up and down stay the
 * browser's (`touch-action: pan-y` in the style sheet), which then cancels the pointer.
 */

const BEGINS = 12; // px sideways from which a touch is a swipe
const DECIDES = 96; // px sideways from which letting go decides

/** @type {{card: HTMLElement, pointer: number, x: number, y: number, by: number} | null} */
let swipe = null;

/** What a swipe this far presses. @param {HTMLElement} card @param {number} by px to the right */
function buttonFor(card, by) {
  return /** @type {HTMLElement | null} */ (card.querySelector(`[data-key="${by > 0 ? "a" : "r"}"]`));
}

/** @param {HTMLElement} card @param {number} by @returns {string} the button's word, without its key */
function wordFor(card, by) {
  return buttonFor(card, by)?.querySelector("kbd")?.previousSibling?.textContent?.trim() ?? "";
}

/** Put the card back. */
function end() {
  swipe?.card.style.removeProperty("translate");
  swipe?.card.removeAttribute("data-swipe");
  swipe = null;
}

document.addEventListener("pointerdown", ({ target, pointerType, pointerId, clientX, clientY }) => {
  if (swipe) return end(); // a second finger
  const card = pointerType !== "mouse" && target instanceof Element && target.closest('[data-fact][data-state="proposed"]');
  if (!(card instanceof HTMLElement) || card.querySelector("[data-edit][open]")) return;
  swipe = { card, pointer: pointerId, x: clientX, y: clientY, by: 0 };
});

document.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
  if (swipe?.pointer !== pointerId) return;
  const { card, x, y, by: before } = swipe;
  const by = clientX - x;
  if (!before && Math.abs(clientY - y) > BEGINS) return end();
  if (!before && Math.abs(by) < BEGINS) return;
  swipe.by = by;
  Object.assign(card.dataset, { swipeRight: wordFor(card, 1), swipeLeft: wordFor(card, -1) });
  card.dataset.swipe = Math.abs(by) < DECIDES ? "begun" : "decides";
  card.style.translate = `${by}px`;
});

document.addEventListener("pointerup", ({ pointerId }) => {
  if (swipe?.pointer !== pointerId) return;
  const { card, by } = swipe;
  end();
  if (Math.abs(by) >= DECIDES) buttonFor(card, by)?.click();
});
document.addEventListener("pointercancel", end);
// A swipe would go on as a fling of the page, and the browser takes the tap on Undo that follows for its end.
document.addEventListener("touchmove", (event) => swipe?.by && event.cancelable && event.preventDefault(), { passive: false });
