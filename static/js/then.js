// @ts-check
/**
 * The two time sliders of the profile: each moves its date and the other way round; the form asks htmx for that day. As
 * long as both are on the same day, “true in the world” goes along with “known”. Without it the dates alone work.
 */

const DAY = 24 * 60 * 60 * 1000; // ms; dates are counted in UTC, where every day has as many
const form = document.getElementById("then-form");
const told = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long", timeZone: "UTC" });

class Slider {
  /** @param {HTMLElement} part */
  constructor(part) {
    this.first = Date.parse(part.dataset.first ?? "");
    this.range = /** @type {HTMLInputElement} */ (part.querySelector("[data-range]"));
    this.date = /** @type {HTMLInputElement} */ (part.querySelector("[data-date]"));
    this.range.hidden = false;
    this.follow();
  }

  /** The day that is chosen, in ms; NaN while a date is being typed. */
  get day() {
    return Date.parse(this.date.value);
  }

  /** Move both to a day, as far as this one goes. @param {number} day */
  moveTo(day) {
    this.range.value = String(Math.round((day - this.first) / DAY));
    this.date.value = new Date(this.first + Number(this.range.value) * DAY).toISOString().slice(0, 10);
    this.#say();
  }

  /** The date was typed: the range goes there. */
  follow() {
    if (!Number.isNaN(this.day)) this.range.value = String(Math.round((this.day - this.first) / DAY));
    this.#say();
  }

  #say() {
    if (!Number.isNaN(this.day)) this.range.setAttribute("aria-valuetext", told.format(this.day));
  }
}

const [known, world] = [...(form?.querySelectorAll("[data-slider]") ?? [])].map(
  (part) => new Slider(/** @type {HTMLElement} */ (part)),
);
let together = known?.day === world?.day;

// Before htmx hears of it, which listens on the form itself.
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
  // htmx keeps no history here; the address alone is enough for a reload or a bookmark.
  const { xhr, successful } = /** @type {CustomEvent} */ (event).detail;
  if (successful) history.replaceState(history.state, "", xhr.responseURL);
});
