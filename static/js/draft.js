// @ts-check
/** The draft that the tab keeps for this conversation: its text (chat.js stores it), and room for its attachments
 * (attachments.js). This is a classic script right after the composer, so that the box has its height at the first paint:
 * nothing moves afterwards. */
{
  const { user, conversation } = /** @type {HTMLElement} */ (document.getElementById("chat")).dataset;
  const text = /** @type {HTMLTextAreaElement} */ (document.getElementById("text"));
  text.value = sessionStorage.getItem(`recall-draft-${user}-${conversation}`) ?? "";
  if (!CSS.supports("field-sizing", "content")) text.rows = Math.min(12, text.value.split("\n").length);
  const height = sessionStorage.getItem(`recall-attachments-${user}-${conversation}-height`);
  const list = /** @type {HTMLElement} */ (document.getElementById("attachments"));
  list.hidden = !height;
  list.style.minHeight = `${Number(height)}px`;
}
