// @ts-check
/** The usage pages: live updates over the socket, and sliders kept in sync with their number fields. */

import { Connection } from "./connection.js";

/** Events after which the latest turn and the totals have changed. */
const USED = ["budget", "conversation", "resync"];

const htmx = /** @type {any} */ (window).htmx;
const line = /** @type {HTMLElement} */ (document.getElementById("line-state"));
let isFirstHello = true;

/** @param {import("./connection.js").Frame} frame */
function onFrame(frame) {
  if (frame.type === "hello") {
    refresh(!isFirstHello); // the first time, too: a turn may have started while the page loaded
    isFirstHello = false;
  }
  if (frame.type === "nudge" && USED.includes(frame.kind)) refresh(frame.kind !== "budget");
}

/** @param {boolean} hasEnded a turn has ended: totals and charts have changed */
function refresh(hasEnded) {
  for (const id of hasEnded ? ["live", "turn", "trends"] : ["turn"]) {
    const part = document.getElementById(id);
    if (part) htmx.trigger(part, "refresh");
  }
}

/** @param {import("./connection.js").State} state */
function onState(state) {
  line.hidden = false;
  line.className = `badge ${state === "open" ? "badge-good" : "badge-warn"}`;
  line.textContent = { open: "Live", lost: "Connection lost", signed_out: "Signed out" }[state];
}

// The sliders --------

/** @param {any} range @returns {any} its number field */
const numberOf = (range) => document.getElementById(range.dataset.for);
/** @param {any} number @returns {any} its slider */
const rangeOf = (number) => document.querySelector(`[data-for="${number.id}"]`);

document.addEventListener("input", (/** @type {any} */ { target }) => {
  if (target.dataset?.for) numberOf(target).value = target.value;
  else if (target.closest?.(".slider")) rangeOf(target).value = target.value;
});

document.addEventListener("keydown", (/** @type {any} */ event) => {
  // Enter in a number field must not save the plan.
  if (event.key === "Enter" && event.target.closest?.(".slider")) event.preventDefault();
});

document.addEventListener("htmx:afterSettle", (/** @type {any} */ event) => {
  if (event.detail.target.id !== "plan-preview") return;
  for (const error of document.querySelectorAll(".slider .errorlist")) {
    const number = error.parentElement?.querySelector("[name]");
    number?.toggleAttribute("aria-invalid", Boolean(error.textContent));
    if (error.textContent) number?.setAttribute("aria-invalid", "true");
  }
});

// Tables stay open when their chart is replaced --------

/** @type {string[]} */ let opened = [];

document.addEventListener("htmx:beforeSwap", (/** @type {any} */ event) => {
  opened = [...event.detail.target.querySelectorAll("details[open]")].map((table) => table.id);
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
});

new Connection("", { frame: onFrame, state: onState });
