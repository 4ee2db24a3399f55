// @ts-check
/** The options of a new conversation, chosen beside the composer (templates/chat/new_choices.html). */

const BY_HAND = "other"; // chat/forms.py: NAMED_BY_HAND

/** The fields of a new conversation's first `send` (docs/protocol.md). @returns {Record<string, unknown>} */
export function choices() {
  const form = /** @type {HTMLFormElement | null} */ (document.getElementById("choices-form"));
  if (!form) return {};
  const chosen = new FormData(form);
  const [role, project, model, other] = ["role", "project", "model", "other_model"].map((name) => chosen.get(name));
  return {
    role: role ? Number(role) : null,
    project: project ? Number(project) : null,
    model: model === BY_HAND ? other : model,
    effort: chosen.get("effort") ?? null,
    only_project: project ? chosen.has("only_project") : null,
  };
}

/** @param {string} id of a list @returns {string} the label of the selected option, "" for none */
function selectedLabel(id) {
  const list = /** @type {HTMLSelectElement | null} */ (document.getElementById(id));
  const option = list?.selectedOptions[0];
  return option?.value ? option.textContent?.split(" · ")[0].replace(" (default)", "") ?? "" : "";
}

document.addEventListener("change", ({ target }) => {
  if (!(target instanceof Element) || !target.closest("#choices-form")) return;
  if (target instanceof HTMLSelectElement && target.name === "project") {
    const only = /** @type {HTMLInputElement} */ (document.getElementById("choose-only"));
    only.checked = target.selectedOptions[0].hasAttribute("data-only");
  }
  const line = /** @type {HTMLElement | null} */ (document.querySelector("#choices [data-chosen]"));
  const labels = [line?.dataset.model ?? selectedLabel("choose-model"), selectedLabel("choose-project"), selectedLabel("choose-role")];
  if (line) line.textContent = labels.filter(Boolean).join(" · ");
});
document.addEventListener("submit", (event) => {
  if (!(event.target instanceof Element) || event.target.id !== "choices-form") return;
  event.preventDefault();
  document.getElementById("choices")?.removeAttribute("open");
});
