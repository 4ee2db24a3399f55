// @ts-check
/**
 * Editing messages in place, and switching branches. The original message is kept; the arrows below a message, served by
 * htmx, switch between versions.
 *
 * @typedef {{article: any, form: any, body: any}} Open
 * @typedef {{send: (message: number, text: string) => string, refused: () => string, left: () => void,
 *   announce: (sentence: string) => void, scroller: any}} Page
 */

const FORM = `<form class="edit">
  <label class="visually-hidden" for="edit-text">Edit your message</label>
  <textarea id="edit-text" rows="1" autocomplete="off" aria-describedby="edit-hint"></textarea>
  <div class="row">
    <button class="button button-small button-primary">Send</button>
    <button class="button button-small" type="button" data-action="leave-edit">Cancel</button>
    <span class="muted" id="edit-hint">Your original message is kept. <span class="kbd"><kbd>Esc</kbd> to cancel.</span></span>
  </div>
</form>`;

export class Branches {
  /** @type {Open | null} */ #open = null;
  /** Edits that aren't accepted yet, by client id. @type {Map<string, {article: any, before: string}>} */ #sent = new Map();
  /** Where the version being replaced was. @type {{id: string, top: number, label: string} | null} */ #switching = null;
  #page;

  /** @param {Page} page */
  constructor(page) {
    this.#page = page;
    document.addEventListener("htmx:beforeRequest", (event) => this.#note(/** @type {CustomEvent} */ (event)));
    document.addEventListener("htmx:afterSwap", () => this.#settle());
    document.addEventListener("htmx:afterRequest", (event) => {
      const { detail } = /** @type {CustomEvent} */ (event);
      if (detail.requestConfig?.path?.endsWith("/follow")) this.#switching = null; // it may have failed
    });
  }

  /** Whether this page is switching branches: events about it are only an echo. */
  get isSwitching() {
    return this.#switching !== null;
  }

  /** @param {any} article @param {string} [text] the initial text; the message itself if omitted */
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

  /** Edit the user's last message. */
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

  /** The open edit, to be restored after the messages are refetched.
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

  /** The edit was accepted. @param {string} clientId */
  settle(clientId) {
    this.#sent.delete(clientId);
  }

  /** The edit was rejected: its text goes back into the editor. @param {string} clientId @param {string} text */
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
    this.#switching = { id: chosen[1], top, label: detail.elt.getAttribute("aria-label") };
  }

  /** Keep the chosen version, and the focus, at the old position. */
  #settle() {
    const article = this.#switching && document.getElementById(`m-${this.#switching.id}`);
    if (!this.#switching || !article) return;
    const { top, label } = this.#switching;
    this.#switching = null;
    this.#page.scroller.scrollTop += article.getBoundingClientRect().top - top;
    const arrows = article.querySelector(".branches");
    const wanted = arrows?.querySelector(`[aria-label="${label}"]:enabled`) ?? arrows?.querySelector("button:enabled");
    /** @type {any} */ (wanted)?.focus({ preventScroll: true });
    if (arrows) this.#page.announce(`${arrows.getAttribute("aria-label")}.`);
  }
}
