// @ts-check
/**
 * The text of an answer that is being written (docs/protocol.md: `delta`). Finished blocks are appended and stay; only the
 * open block changes, and of it only what is different. All HTML is rendered and sanitized by the server.
 *
 * @typedef {import("./connection.js").Frame} Frame
 * @typedef {[depth: number, html: string]} Part HTML for the end of the last element `depth` levels down
 */

const NEAR = 24; // blocks at the end that are laid out with every frame; the others only when they come into view

export class LiveText {
  #body;
  /** @type {string} */ #html;
  /** @type {Part[]} */ #open;
  /** @type {ChildNode[][]} what shows each open part */ #nodes = [];
  #far = 0;

  /** @param {Element} body @param {{html: string, open: Part[]}} soFar */
  constructor(body, { html, open }) {
    this.#body = body;
    this.#html = html;
    this.#open = open;
  }

  /** Show what there is so far. */
  begin() {
    this.#body.replaceChildren();
    this.#append([0, this.#html]);
    this.#nodes = this.#open.map((part) => this.#append(part));
  }

  /** @param {Frame[]} frames in order @returns {Element[]} what is finished by them */
  take(frames) {
    this.#restFar();
    const before = this.#open;
    const closed = frames.flatMap((frame) => frame.closed);
    for (const frame of frames) this.#open = continued(this.#open, frame);
    const parts = [...closed, ...this.#open];
    let same = 0; // parts that go on where open ones are
    while (same < parts.length && parts[same][0] === before[same]?.[0]) same++;
    for (const node of this.#nodes.slice(same).flat()) node.remove();
    const shown = parts.map((part, at) => (at < same ? grow(this.#nodes[at], parse(part[1])) : this.#append(part)));
    this.#nodes = shown.slice(closed.length);
    return shown.slice(0, closed.length).flat().filter((node) => node instanceof Element);
  }

  /** Blocks far from the end keep the height they have: laying out 10,000 words takes 28 ms a frame, and so 3. */
  #restFar() {
    if (!this.#body.checkVisibility()) return; // thinking that is folded has no height yet
    for (; this.#far < this.#body.children.length - NEAR; this.#far++) {
      const block = /** @type {HTMLElement} */ (this.#body.children[this.#far]);
      const height = block.getBoundingClientRect().height - 2 * block.clientTop; // without its borders
      block.style.containIntrinsicBlockSize = `auto ${height}px`;
      block.style.contentVisibility = "auto";
    }
  }

  /** @param {Part} part @returns {ChildNode[]} */
  #append([depth, html]) {
    let place = this.#body;
    for (; depth && place.lastElementChild; depth--) place = place.lastElementChild;
    const nodes = [...parse(html)];
    place.append(...nodes);
    return nodes;
  }
}

/** What the model thinks before it answers, in a closed `<details>`. */
export class Thinking {
  #details;
  /** @type {LiveText} */ #shown;
  received = 0;

  /** @param {any} details @param {{thinking: string, thinking_html: string, thinking_open: Part[]}} soFar */
  constructor(details, { thinking, thinking_html: html, thinking_open: open }) {
    this.#details = details;
    this.#shown = this.#begin({ html, open });
    this.received = length(thinking);
    details.hidden = !thinking;
  }

  /** @param {Frame} frame the text from `offset` on @returns {Element[]} what is finished by it */
  take(frame) {
    if (frame.offset < this.received) this.#shown = this.#begin({ html: "", open: [] }); // the frame has all of it
    const finished = this.#shown.take([frame]);
    this.received = frame.offset + length(frame.text);
    this.#details.hidden = !this.received;
    this.mark(true);
    return finished;
  }

  /** @param {{html: string, open: Part[]}} soFar */
  #begin(soFar) {
    const shown = new LiveText(this.#details.querySelector(".thinking-text"), soFar);
    shown.begin();
    return shown;
  }

  /** @param {boolean} isOn whether the model thinks now @returns {boolean} whether that shows */
  mark(isOn) {
    this.#details.toggleAttribute("data-live", isOn);
    return isOn && !this.#details.hidden;
  }
}

/** @param {string} string its length in code points */
export function length(string) {
  let points = 0;
  for (const _ of string) points++;
  return points;
}

/** The open part after a frame, which leaves out what the last piece begins with already.
 * @param {Part[]} before @param {Frame} frame @returns {Part[]} */
function continued(before, { open, kept }) {
  const last = open.at(-1);
  return kept ? [...open.slice(0, -1), [last[0], (before.at(-1)?.[1] ?? "").slice(0, kept) + last[1]]] : open;
}

/** The answer is finished: take over what its article says now. Blocks that look the same are left alone.
 * @param {Element} old @param {Element} article the same one, finished */
export function settle(old, article) {
  const [shown, body] = [old.querySelector("[data-text]"), article.querySelector(".message-body")];
  if (!shown || !body) return old.replaceWith(article);
  const before = old.querySelector(".thinking");
  const [isOpen, hasFocus] = [before?.hasAttribute("open"), before?.contains(document.activeElement)];
  while (shown.previousSibling) shown.previousSibling.remove();
  while (shown.nextSibling) shown.nextSibling.remove();
  settleBlocks(shown, body);
  while (body.previousSibling) old.prepend(body.previousSibling);
  while (body.nextSibling) old.append(body.nextSibling);
  const thinking = old.querySelector(".thinking");
  if (isOpen) thinking?.setAttribute("open", "");
  if (hasFocus) thinking?.querySelector("summary")?.focus({ preventScroll: true });
  old.setAttribute("data-status", article.getAttribute("data-status") ?? "");
  for (const name of ["data-text", "aria-busy"]) shown.removeAttribute(name);
}

/** @param {Element} shown @param {Element} body */
function settleBlocks(shown, body) {
  /** @type {any[]} */ const before = [...shown.children];
  /** @type {any[]} */ const after = [...body.children];
  after.forEach((block, at) => {
    if (before[at]?.style.length) block.style.cssText = before[at].style.cssText; // it is far from the end
    if (!before[at]) shown.append(block);
    else if (!before[at].isEqualNode(block)) before[at].replaceWith(block);
  });
  for (const block of before.slice(after.length)) block.remove();
}

/** Make a node equal to another. What is equal already stays, with the reader's selection and scroll position.
 * @param {any} node @param {any} next @returns {any} the node, or `next` in its place */
function become(node, next) {
  if (node instanceof Text && next instanceof Text) {
    if (next.data.startsWith(node.data)) node.appendData(next.data.slice(node.data.length));
    else node.data = next.data;
  } else if (!node.cloneNode().isEqualNode(next.cloneNode())) node.replaceWith(next);
  else if (!node.isEqualNode(next)) grow([...node.childNodes], next.childNodes, node);
  return node.parentNode ? node : next;
}

/** The same for siblings. @param {ChildNode[]} nodes next to each other @param {Iterable<ChildNode>} fresh @param {any} [place] */
function grow(nodes, fresh, place = nodes[0].parentNode) {
  const [next, after] = [[...fresh], nodes.at(-1)?.nextSibling ?? null];
  for (const node of nodes.slice(next.length)) node.remove();
  return next.map((node, at) => (nodes[at] ? become(nodes[at], node) : place.insertBefore(node, after)));
}

/** @param {string} html */
function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content.childNodes;
}
