// @ts-check
/**
 * The two time sliders of the profile: a slider writes its day into the date field, and the form asks htmx for it; the
 * server reads what is typed, and its answer moves the slider. While both fields are the same, “true then” moves with
 * “known”. Without it the date fields alone work.
 */

const DAY = 24 * 60 * 60 * 1000; // ms; dates are in UTC, where every day is this long
const form = document.getElementById("then-form");
const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" }); // as pages write a day

class Slider {
  /** @param {HTMLElement} part */
  constructor(part) {
    this.name = part.dataset.slider ?? "";
    this.first = Date.parse(part.dataset.first ?? "");
    this.range = /** @type {HTMLInputElement} */ (part.querySelector("[data-range] > input"));
    this.date = /** @type {HTMLInputElement} */ (part.querySelector(`[name="${this.name}"]`));
    /** @type {HTMLElement} */ (part.querySelector("[data-range]")).hidden = this.range.disabled; // one day: nowhere to go
    this.range.setAttribute("aria-valuetext", this.day);
  }

  /** The day at which the slider is. */
  get day() {
    return format.format(this.first + Number(this.range.value) * DAY);
  }

  /** Write the slider's day into the field. */
  write() {
    this.date.value = this.day;
    this.range.setAttribute("aria-valuetext", this.day);
  }

  /** Move to the day that the server read, unless more has been typed since. @param {string} asked @param {string} day */
  follow(asked, day) {
    if (!day || this.date.value !== asked) return;
    this.range.value = String(Math.round((Date.parse(`${day} UTC`) - this.first) / DAY));
    this.write();
  }
}

const sliders = [...(form?.querySelectorAll("[data-slider]") ?? [])].map(
  (part) => new Slider(/** @type {HTMLElement} */ (part)),
);
const [known, world] = sliders;
let together = known?.date.value === world?.date.value;

// Before htmx, which listens on the form and the sliders.
form?.addEventListener(
  "input",
  ({ target }) => {
    const moved = sliders.find(({ range, date }) => target === range || target === date);
    if (!moved) return;
    if (target === moved.range) moved.write();
    if (moved === world) together = known.date.value === world.date.value;
    else if (together) world.date.value = known.date.value;
    if (together && target === known.range) world.follow(known.date.value, known.day);
  },
  { capture: true },
);

form?.addEventListener("htmx:afterRequest", (event) => {
  // htmx's history is off; the URL alone is enough for a reload or a bookmark.
  const { xhr, successful, requestConfig } = /** @type {CustomEvent} */ (event).detail;
  if (!successful) return;
  history.replaceState(history.state, "", xhr.responseURL);
  const read = document.getElementById("then")?.dataset ?? {};
  for (const slider of sliders) slider.follow(requestConfig.parameters[slider.name], read[slider.name] ?? "");
});
