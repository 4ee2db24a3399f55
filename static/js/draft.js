// @ts-check
/** The draft that the tab keeps for this conversation (chat.js stores it). This is a classic script right after the
 * composer, so that the box has its height at the first paint: nothing moves afterwards. */
{
  const { user, conversation } = /** @type {HTMLElement} */ (document.getElementById("chat")).dataset;
  const text = /** @type {HTMLTextAreaElement} */ (document.getElementById("text"));
  text.value = sessionStorage.getItem(`recall-draft-${user}-${conversation}`) ?? "";
  if (!CSS.supports("field-sizing", "content")) text.rows = Math.min(12, text.value.split("\n").length);
}
