// @ts-check
/** Suggestions of an `input[list]` in Recall's look: a combobox. Without scripts, the browser shows its own. */

const MOST = 8;

/** @param {HTMLInputElement} input */
export function suggest(input) {
  const words = [...(input.list?.options ?? [])].map((option) => option.value);
  input.removeAttribute("list");
  if (!words.length) return;
  const box = document.createElement("ul");
  box.id = `${input.id}-suggestions`;
  box.className = "suggestions";
  box.role = "listbox";
  box.ariaLabel = "Suggestions";
  box.hidden = true;
  const frame = document.createElement("div");
  frame.className = "suggesting";
  input.replaceWith(frame);
  frame.append(input, box);
  input.focus();
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": box.id })) {
    input.setAttribute(name, value);
  }
  /** Where the word starts that is being typed: tags are separated by commas. */
  const start = () => input.value.lastIndexOf(",") + 1;
  const plain = (/** @type {string} */ text) => text.toLowerCase().replaceAll("_", " ").trim();

  /** @param {boolean} isOpen */
  const show = (isOpen) => {
    const typed = plain(input.value.slice(start()));
    const isChosen = words.some((word) => plain(word) === typed);
    const found = words.filter((word) => isChosen || plain(word).includes(typed)).slice(0, MOST);
    box.replaceChildren(
      ...found.map((word, place) => {
        const row = document.createElement("li");
        row.id = `${box.id}-${place}`;
        row.role = "option";
        row.textContent = word;
        return row;
      }),
    );
    box.hidden = !isOpen || !found.length;
    input.ariaExpanded = String(!box.hidden);
    point(-1);
  };
  /** @param {number} place of the option that Enter takes; −1: none */
  const point = (place) => {
    [...box.children].forEach((row, at) => row.setAttribute("aria-selected", String(at === place)));
    if (place < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", box.children[place].id);
  };
  /** @param {Element} row */
  const take = (row) => {
    const before = input.value.slice(0, start());
    input.value = `${before}${before && " "}${row.textContent}`;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    show(false);
  };

  show(false);
  input.addEventListener("input", () => show(true));
  input.addEventListener("click", () => show(true));
  input.addEventListener("blur", () => show(false));
  input.addEventListener("keydown", (event) => {
    const at = [...box.children].findIndex((row) => row.ariaSelected === "true");
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (box.hidden) return show(true);
      const count = box.children.length;
      point((at + (event.key === "ArrowDown" ? 1 : at < 0 ? 0 : -1) + count) % count);
    } else if (event.key === "Enter" && at >= 0 && !box.hidden) {
      event.preventDefault();
      take(box.children[at]);
    } else if (event.key === "Escape" && !box.hidden) {
      event.stopPropagation();
      show(false);
    }
  });
  box.addEventListener("pointerdown", (event) => event.preventDefault()); // the input keeps the focus
  box.addEventListener("click", ({ target }) => target instanceof HTMLLIElement && take(target));
}
