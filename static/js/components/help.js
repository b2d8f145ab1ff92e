/**
 * The way to the help sheet, by the key ? and by every button with the part "help", and the key that
 * pauses a moving reply. The sheet itself is fetched when somebody asks for it.
 */

import { isLetter } from "./letters.js";

/** @param {HTMLElement} page @param {(error: unknown) => void} notFetched */
export function mountHelp(page, notFetched) {
  const open = () => void import("./help_sheet.js").then(({ openHelp }) => openHelp(page)).catch(notFetched);
  page.addEventListener("keydown", (event) => {
    if (isLetter(event, "?")) open();
    if (isLetter(event, "p")) pause(page);
  });
  page.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest('[data-part="help"]')) open();
  });
}

// Private

/** @param {HTMLElement} page */
function pause(page) {
  const buttons = /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll('.reply [data-part="hold"]'));
  Array.from(buttons).find((button) => !button.hidden)?.click();
}
