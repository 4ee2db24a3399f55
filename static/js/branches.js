// @ts-check
/**
 * Asking in other words, and turning to another branch. A message of one's own is edited where it stands; what was
 * asked before is kept beside it, and the arrows below a message, which htmx serves, lead from one to the other.
 *
 * @typedef {{article: any, form: any, body: any}} Open
 * @typedef {{send: (message: number, text: string) => string, refused: () => string, left: () => void,
 *   announce: (sentence: string) => void, scroller: any}} Page
 */

const FORM = `<form class="edit">
  <label class="visually-hidden" for="edit-text">Your message, in other words</label>
  <textarea id="edit-text" rows="1" autocomplete="off" aria-describedby="edit-hint"></textarea>
  <div class="row">
    <button class="button button-small button-primary">Send</button>
    <button class="button button-small" type="button" data-action="leave-edit">Cancel</button>
    <span class="muted" id="edit-hint">What was asked before is kept. <span class="kbd"><kbd>Esc</kbd> leaves.</span></span>
  </div>
</form>`;

export class Branches {
  /** @type {Open | null} */ #open = null;
  /** What was sent and not accepted yet, by client id. @type {Map<string, {article: any, before: string}>} */ #sent = new Map();
  /** Where the version that gives way stood. @type {{id: string, top: number, label: string} | null} */ #turning = null;
  #page;

  /** @param {Page} page */
  constructor(page) {
    this.#page = page;
    document.addEventListener("htmx:beforeRequest", (event) => this.#note(/** @type {CustomEvent} */ (event)));
    document.addEventListener("htmx:afterSwap", () => this.#settle());
    document.addEventListener("htmx:afterRequest", (event) => {
      const { detail } = /** @type {CustomEvent} */ (event);
      if (detail.requestConfig?.path?.endsWith("/follow")) this.#turning = null; // it may have been refused
    });
  }

  /** Whether another branch was asked for here: what is told of it meanwhile is only its echo. */
  get isTurning() {
    return this.#turning !== null;
  }

  /** @param {any} article @param {string} [text] what stands in the box; the message itself if none is given */
  edit(article, text) {
    const refusal = this.#page.refused();
    if (!article || refusal) return;
    this.leave();
    const body = article.querySelector(".message-body");
    const form = /** @type {any} */ (document.createRange().createContextualFragment(FORM).firstElementChild);
    body.after(form);
    body.hidden = article.querySelector(".message-foot").hidden = true;
    this.#open = { article, form, body };
    const box = form.querySelector("textarea");
    box.value = text ?? body.textContent;
    this.#fit(box);
    box.focus();
    box.setSelectionRange(box.value.length, box.value.length);
    form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#submit();
    });
    box.addEventListener("input", () => this.#fit(box));
    box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
  }

  /** The last message one wrote oneself. */
  editLast() {
    this.edit([...document.querySelectorAll('.message-user [data-action="edit"]')].at(-1)?.closest(".message"));
  }

  /** Close the box; the message stays as it was. @returns {boolean} whether one was open */
  leave() {
    if (!this.#open) return false;
    const { article, form, body } = this.#open;
    form.remove();
    body.hidden = article.querySelector(".message-foot").hidden = false;
    this.#open = null;
    return true;
  }

  /** What is being edited, for the time in which the messages are fetched again.
   * @returns {{id: string, text: string} | null} */
  get draft() {
    return this.#open && { id: this.#open.article.id, text: this.#open.form.querySelector("textarea").value };
  }

  /** @param {{id: string, text: string} | null} draft */
  restore(draft) {
    if (this.#open && !this.#open.article.isConnected) this.#open = null;
    const article = draft && document.getElementById(draft.id);
    if (article && !this.#open) this.edit(article, draft.text);
  }

  /** It was accepted: nothing is to be given back. @param {string} clientId */
  settle(clientId) {
    this.#sent.delete(clientId);
  }

  /** It was refused: the words go back into the box. @param {string} clientId @param {string} text */
  giveBack(clientId, text) {
    const sent = this.#sent.get(clientId);
    this.#sent.delete(clientId);
    if (!sent?.article.isConnected) return;
    sent.article.classList.remove("message-unsent");
    sent.article.querySelector(".message-body").textContent = sent.before;
    this.edit(sent.article, text);
  }

  #submit() {
    if (!this.#open || this.#page.refused()) return;
    const { article, form, body } = this.#open;
    const [text, before] = [form.querySelector("textarea").value, body.textContent];
    if (!text.trim()) return;
    this.leave();
    if (text === before) return this.#page.left();
    body.textContent = text;
    article.classList.add("message-unsent");
    this.#sent.set(this.#page.send(Number(article.dataset.message), text), { article, before });
    this.#page.left();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Escape" && this.leave()) {
      event.preventDefault();
      return this.#page.left();
    }
    const isTouch = matchMedia("(pointer: coarse)").matches; // as in the composer
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || isTouch) return;
    event.preventDefault();
    this.#submit();
  }

  /** @param {HTMLTextAreaElement} box */
  #fit(box) {
    if (!CSS.supports("field-sizing", "content")) box.rows = Math.min(12, box.value.split("\n").length);
  }

  /** @param {CustomEvent} event */
  #note({ detail }) {
    const chosen = detail.requestConfig?.path?.match(/^\/m\/(\d+)\/follow$/);
    if (!chosen) return;
    const top = detail.elt.closest(".message").getBoundingClientRect().top;
    this.#turning = { id: chosen[1], top, label: detail.elt.getAttribute("aria-label") };
  }

  /** The version that was chosen stands where the other one stood, and so does the focus. */
  #settle() {
    const article = this.#turning && document.getElementById(`m-${this.#turning.id}`);
    if (!this.#turning || !article) return;
    const { top, label } = this.#turning;
    this.#turning = null;
    this.#page.scroller.scrollTop += article.getBoundingClientRect().top - top;
    const arrows = article.querySelector(".branches");
    const wanted = arrows?.querySelector(`[aria-label="${label}"]:enabled`) ?? arrows?.querySelector("button:enabled");
    /** @type {any} */ (wanted)?.focus({ preventScroll: true });
    if (arrows) this.#page.announce(`${arrows.getAttribute("aria-label")}.`);
  }
}
