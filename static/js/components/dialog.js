/**
 * A modal dialog made on the spot, for parts of the page that are fetched late: title, close button,
 * a click beside it closes too, and the focus goes back to where it was.
 */

import { say } from "../words.js";
import { element } from "./parts.js";

let titles = 0;

/**
 * @param {string} title @param {string} kind of dialog, for the style sheet
 * @param {(Node | string)[]} children
 * @returns {HTMLDialogElement} shown; it removes itself when it is closed
 */
export function openDialog(title, kind, ...children) {
  const from = document.activeElement;
  const dialog = /** @type {HTMLDialogElement} */ (element("dialog", `late-dialog ${kind}`));
  const heading = element("h2", "", title);
  heading.id = `late-dialog-${(titles += 1)}`;
  const close = element("button", "quiet", say("close"));
  close.setAttribute("type", "button");
  close.addEventListener("click", () => dialog.close());
  dialog.setAttribute("aria-labelledby", heading.id);
  dialog.append(element("header", "late-dialog-head", heading, close), ...children);
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  // Keys in here are for the dialog: Escape closes it and does not stop a reply.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (from instanceof HTMLElement) from.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
