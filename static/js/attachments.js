// @ts-check
/**
 * Attachments of the next message: files dropped, pasted or chosen. Each is uploaded at once and is a draft on the server
 * until the message is sent (docs/attachments.md); the tab keeps only the drafts' ids, so a reload loses nothing, and the
 * height of their list, which draft.js reserves. A long paste becomes a file, too; “Insert as text” reverts that.
 *
 * @typedef {{id: number, kind: string, name: string, size: string, tokens: number, thumbnail: string, text_url: string,
 *   remove_url: string, note: string}} Draft
 * @typedef {{element: any, file: File | Blob, name: string, kind: string, xhr: XMLHttpRequest | null,
 *   draft: Draft | null}} Item
 */

import { store } from "./connection.js";

/** @param {string} id @returns {any} */
const $ = (id) => document.getElementById(id);
const NOT_TEMPORARY = "Temporary chats don't support attachments. Turn off Temporary to attach files.";
const UNFINISHED = "A file is still uploading. Wait for it, or remove it.";
const NO_CONNECTION = "Can't reach Recall.";
const WILL_FAIL_AGAIN = [413, 422]; // the file itself was rejected
const MEGABYTE = 1_000_000;

export class Attachments {
  /** @type {Item[]} */ #items = [];
  #area = $("attaching");
  #list = $("attachments");
  #most = Number(this.#area.dataset.most);
  #on;

  /**
   * @param {{isTemporary: () => boolean, about: () => Record<string, string>, key: () => string, changed: () => unknown,
   *   refuse: (sentence: string) => unknown, announce: (sentence: string) => unknown,
   *   insert: (words: string) => unknown}} on `about`: the conversation or model of the next message; `key`: in the tab's storage
   */
  constructor(on) {
    this.#on = on;
    this.#listen();
    this.reload();
  }

  /** Show the drafts that the tab remembers, which are another conversation's if it has changed. */
  reload() {
    for (const { element, xhr } of this.#items.splice(0)) {
      xhr?.abort();
      element.remove();
    }
    const kept = sessionStorage.getItem(this.#on.key());
    this.#list.hidden = !kept;
    this.#list.style.minHeight = `${Number(sessionStorage.getItem(this.#heightKey))}px`;
    if (kept) this.restore(kept.split(",").map(Number));
  }

  get #heightKey() {
    return `${this.#on.key()}-height`;
  }

  /** The ids of the drafts. */
  get ids() {
    return this.#items.flatMap(({ draft }) => (draft ? [draft.id] : []));
  }

  /** @returns {string} why they can't be sent yet; "" if they can, or there are none. Failed ones are left out. */
  get refusal() {
    if (this.#items.some(({ xhr }) => xhr)) return UNFINISHED;
    return this.ids.length && this.#on.isTemporary() ? NOT_TEMPORARY : "";
  }

  /** Move the drafts into a message, and drop what failed. @returns {number[]} */
  take() {
    const ids = this.ids;
    for (const { element } of this.#items) element.remove();
    this.#items = [];
    this.remember();
    return ids;
  }

  /** Remember the drafts for this tab, so that they survive a reload. */
  remember() {
    store(this.#on.key(), this.ids.join(","));
    this.#showList();
    store(this.#heightKey, this.ids.length ? String(this.#list.offsetHeight) : "");
    this.#on.changed();
  }

  /** Show the list as high as its items, or hide it if it is empty. */
  #showList() {
    this.#list.hidden = !this.#items.length;
    this.#list.style.minHeight = "";
  }

  /** Clear the current storage key. */
  forget() {
    store(this.#on.key(), "");
    store(this.#heightKey, "");
  }

  /** Show drafts that the server still has, after a reload or a rejected message. @param {number[]} ids */
  async restore(ids) {
    if (!ids.length) return;
    const key = this.#on.key();
    const query = new URLSearchParams([...ids.map((id) => ["id", String(id)]), ...Object.entries(this.#on.about())]);
    const response = await fetch(`${this.#area.dataset.address}?${query}`).catch(() => null); // the tab keeps the ids
    if (key !== this.#on.key()) return; // another conversation is shown
    if (!response?.ok || response.redirected) return this.#showList();
    const { attachments } = await response.json();
    if (key !== this.#on.key()) return;
    for (const draft of attachments) {
      if (this.ids.includes(draft.id)) continue;
      const item = this.#show(new Blob(), draft.name, draft.kind);
      this.#onUploaded(item, draft);
    }
    this.remember();
  }

  /** @param {Iterable<File>} files */
  add(files) {
    for (const file of files) this.#addItem(file, file.name, "file");
  }

  // One file --------

  /** @param {File | Blob} file @param {string} name @param {string} kind */
  #addItem(file, name, kind) {
    if (this.#on.isTemporary()) return this.#on.refuse(NOT_TEMPORARY);
    if (this.#items.length >= this.#most) return this.#on.refuse(`You can attach up to ${this.#most} files per message.`);
    this.#on.refuse("");
    const item = this.#show(file, name, kind);
    const largest = Number(this.#area.dataset.largest);
    if (file.size > largest) this.#onFailed(item, `This file is ${(file.size / MEGABYTE).toFixed(1)} MB. The limit is ${largest / MEGABYTE} MB.`, false);
    else this.#upload(item);
  }

  /** @param {File | Blob} file @param {string} name @param {string} kind @returns {Item} */
  #show(file, name, kind) {
    const element = $("attaching-one").content.cloneNode(true).firstElementChild;
    const item = { element, file, name, kind, xhr: null, draft: null };
    element.querySelector(".attachment-name").textContent = name;
    element.querySelector("progress").setAttribute("aria-label", `Uploading ${name}`);
    element.querySelector("[data-attachment=remove]").setAttribute("aria-label", `Remove ${name}`);
    element.addEventListener("click", (/** @type {any} */ { target }) => {
      const button = target.closest("[data-attachment]");
      if (button) this.#do(button.dataset.attachment, item);
    });
    this.#items.push(item);
    this.#list.append(element);
    this.#list.hidden = false;
    return item;
  }

  /** @param {Item} item */
  #upload(item) {
    const [xhr, body] = [new XMLHttpRequest(), new FormData()];
    const progress = item.element.querySelector("progress");
    for (const [name, value] of Object.entries(this.#on.about())) body.set(name, value);
    body.set("kind", item.kind);
    body.set("file", item.file, item.name);
    item.xhr = xhr;
    progress.hidden = false;
    progress.value = 0;
    this.#showDetails(item, "Uploading…");
    xhr.upload.onprogress = ({ loaded, total }) => (progress.value = loaded / total);
    xhr.upload.onload = () => {
      progress.removeAttribute("value"); // indeterminate: reading takes an unknown time
      this.#showDetails(item, "Reading…");
    };
    xhr.onload = () => this.#onResponse(item, xhr);
    xhr.onerror = () => this.#onFailed(item, NO_CONNECTION, true);
    xhr.open("POST", this.#area.dataset.address);
    xhr.setRequestHeader("X-CSRFToken", /** @type {any} */ (document.querySelector("#composer [name=csrfmiddlewaretoken]")).value);
    xhr.send(body);
    this.#on.changed();
  }

  /** @param {Item} item @param {XMLHttpRequest} xhr */
  #onResponse(item, xhr) {
    const isJson = xhr.getResponseHeader("content-type")?.includes("json");
    const body = isJson ? JSON.parse(xhr.responseText) : {};
    if (xhr.status !== 201) {
      const sentence = body.error ?? `The file couldn't be attached (${xhr.status}). If this keeps happening, sign in again.`;
      return this.#onFailed(item, sentence, !WILL_FAIL_AGAIN.includes(xhr.status));
    }
    this.#onUploaded(item, body);
    this.#on.announce(`${body.name} attached. ${body.note}`);
    this.remember();
  }

  /** @param {Item} item @param {Draft} draft */
  #onUploaded(item, draft) {
    Object.assign(item, { draft, xhr: null, name: draft.name });
    const { element } = item;
    element.querySelector("progress").hidden = true;
    element.querySelector(".attachment-name").textContent = draft.name;
    element.querySelector("[data-attachment=remove]").setAttribute("aria-label", `Remove ${draft.name}`);
    element.querySelector("[data-attachment=unfold]").hidden = draft.kind !== "paste";
    this.#showDetails(item, `${draft.size} · ${draft.tokens.toLocaleString("en")} tokens`);
    this.#showProblem(item, draft.note);
    if (!draft.thumbnail) return;
    const image = Object.assign(document.createElement("img"), { src: draft.thumbnail, alt: "" });
    element.querySelector(".attachment-picture").replaceChildren(image);
  }

  /** @param {Item} item @param {string} sentence @param {boolean} canRetry */
  #onFailed(item, sentence, canRetry) {
    item.xhr = null;
    item.element.querySelector("progress").hidden = true;
    item.element.querySelector("[data-attachment=retry]").hidden = !canRetry;
    item.element.classList.add("attachment-failed");
    this.#showDetails(item, "");
    this.#showProblem(item, sentence);
    this.#on.announce(`${item.name}: ${sentence}`);
    this.#on.changed();
  }

  /** @param {Item} item @param {string} words */
  #showDetails(item, words) {
    item.element.querySelector(".attachment-facts").textContent = words;
  }

  /** @param {Item} item @param {string} sentence "" for none */
  #showProblem(item, sentence) {
    Object.assign(item.element.querySelector(".attachment-problem"), { textContent: sentence, hidden: !sentence });
  }

  /** @param {string} what @param {Item} item */
  #do(what, item) {
    if (what === "remove") this.#remove(item);
    else if (what === "unfold") this.#unfold(item);
    else {
      item.element.classList.remove("attachment-failed");
      item.element.querySelector("[data-attachment=retry]").hidden = true;
      this.#showProblem(item, "");
      this.#upload(item);
    }
  }

  /** @param {Item} item */
  #remove(item) {
    const next = item.element.nextElementSibling ?? item.element.previousElementSibling;
    item.xhr?.abort();
    if (item.draft) this.#post(item.draft.remove_url);
    item.element.remove();
    this.#items = this.#items.filter((one) => one !== item);
    this.#on.refuse("");
    this.#on.announce(`${item.name} removed.`);
    (next?.querySelector("[data-attachment=remove]") ?? $("text")).focus();
    this.remember();
  }

  /** Turn a paste back into text. @param {Item} item */
  async #unfold(item) {
    const response = await fetch(item.draft?.text_url ?? "").catch(() => null);
    if (!response?.ok || response.redirected) return this.#on.refuse(NO_CONNECTION);
    this.#on.insert(await response.text());
    this.#remove(item);
  }

  /** @param {string} url */
  #post(url) {
    const token = /** @type {any} */ (document.querySelector("#composer [name=csrfmiddlewaretoken]")).value;
    fetch(url, { method: "POST", headers: { "X-CSRFToken": token } }).catch(() => null); // the server deletes unsent drafts
  }

  // Where files come from --------

  #listen() {
    $("attach-files").addEventListener("change", (/** @type {any} */ { target }) => {
      this.add([...target.files]);
      target.value = "";
      $("text").focus();
    });
    $("text").addEventListener("paste", (/** @type {ClipboardEvent} */ event) => this.#paste(event));
    this.#listenForDrops(/** @type {HTMLElement} */ (this.#area.closest(".talk")));
  }

  /** @param {ClipboardEvent} event */
  #paste(event) {
    const words = event.clipboardData?.getData("text/plain") ?? "";
    const files = [...(event.clipboardData?.files ?? [])];
    const isLong = words.length >= Number(this.#area.dataset.longPaste) && !this.#on.isTemporary();
    if (words && !isLong) return;
    if (!words && !files.length) return;
    event.preventDefault();
    if (words) this.#addItem(new Blob([words], { type: "text/plain" }), "Pasted text", "paste");
    else this.add(files);
  }

  /** @param {HTMLElement} talk */
  #listenForDrops(talk) {
    const veil = Object.assign(document.createElement("div"), { className: "drop-veil", hidden: true });
    veil.append(Object.assign(document.createElement("p"), { textContent: "Drop images and files to attach them" }));
    talk.append(veil);
    let depth = 0; // dragging over a child fires dragleave on its parent
    const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
    const show = (/** @type {number} */ now) => {
      depth = Math.max(0, now);
      veil.hidden = !depth;
    };
    talk.addEventListener("dragenter", (event) => hasFiles(event) && show(depth + 1));
    talk.addEventListener("dragleave", (event) => hasFiles(event) && show(depth - 1));
    talk.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
    talk.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      show(0);
      this.add([...(event.dataTransfer?.files ?? [])]);
    });
  }
}
