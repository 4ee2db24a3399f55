// @ts-check
/**
 * The two time sliders of the profile: each is in sync with its date field, and the form asks htmx for that day. While
 * both are on the same day, “true then” moves with “known”. Without it the date fields alone work.
 */

const DAY = 24 * 60 * 60 * 1000; // ms; dates are in UTC, where every day is this long
const form = document.getElementById("then-form");
const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long", timeZone: "UTC" });

class Slider {
  /** @param {HTMLElement} part */
  constructor(part) {
    this.first = Date.parse(part.dataset.first ?? "");
    this.range = /** @type {HTMLInputElement} */ (part.querySelector("[data-range]"));
    this.date = /** @type {HTMLInputElement} */ (part.querySelector("[data-date]"));
    this.range.hidden = false;
    this.follow();
  }

  /** The selected day, in ms; NaN while a date is being typed. */
  get day() {
    return Date.parse(this.date.value);
  }

  /** Move both to a day, within the range. @param {number} day */
  moveTo(day) {
    this.range.value = String(Math.round((day - this.first) / DAY));
    this.date.value = new Date(this.first + Number(this.range.value) * DAY).toISOString().slice(0, 10);
    this.#updateLabel();
  }

  /** Move the range to the typed date. */
  follow() {
    if (!Number.isNaN(this.day)) this.range.value = String(Math.round((this.day - this.first) / DAY));
    this.#updateLabel();
  }

  #updateLabel() {
    if (!Number.isNaN(this.day)) this.range.setAttribute("aria-valuetext", format.format(this.day));
  }
}

const [known, world] = [...(form?.querySelectorAll("[data-slider]") ?? [])].map(
  (part) => new Slider(/** @type {HTMLElement} */ (part)),
);
let together = known?.day === world?.day;

// Before htmx, which listens on the form itself.
form?.addEventListener(
  "input",
  ({ target }) => {
    const moved = [known, world].find(({ range, date }) => target === range || target === date);
    if (!moved) return;
    if (target === moved.range) moved.moveTo(moved.first + Number(moved.range.value) * DAY);
    else moved.follow();
    if (moved === known && together && !Number.isNaN(known.day)) world.moveTo(known.day);
    else if (moved === world) together = known.day === world.day;
  },
  { capture: true },
);

form?.addEventListener("htmx:afterRequest", (event) => {
  // htmx's history is off; the URL alone is enough for a reload or a bookmark.
  const { xhr, successful } = /** @type {CustomEvent} */ (event).detail;
  if (successful) history.replaceState(history.state, "", xhr.responseURL);
});
