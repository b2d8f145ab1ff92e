/**
 * One line above the composer about something that has just happened, with at most one thing to do
 * about it (Undo). It stays until it is closed or the next one comes: nobody has to be quick.
 *
 * @typedef {{ label: string, act: () => void }} Offer
 */

import { part, setText } from "./parts.js";

export class Notice {
  /** @type {(() => void) | null} */
  #act = null;

  /** @param {HTMLElement} root @param {{ takeFocus(): void }} heir of the focus, when the line goes with it */
  constructor(root, heir) {
    this.root = root;
    this.heir = heir;
    this.home = /** @type {Element} */ (root.nextElementSibling);
    this.text = part(root, "notice-text", HTMLElement);
    this.button = part(root, "notice-act", HTMLButtonElement);
    part(root, "notice-close", HTMLButtonElement).addEventListener("click", () => this.hide());
    this.button.addEventListener("click", () => {
      const act = this.#act;
      this.hide();
      act?.();
    });
  }

  /** @param {string} text @param {Offer} [offer] */
  show(text, offer) {
    this.#act = offer?.act ?? null;
    this.root.hidden = false;
    this.button.hidden = !offer;
    setText(this.button, offer?.label ?? "");
    setText(this.text, text);
  }

  /** While a dialog lies over the page the line has to stand in it. @param {Element | null} dialog null: not any more */
  standIn(dialog) {
    if (dialog) dialog.append(this.root);
    else this.home.before(this.root);
  }

  hide() {
    this.#act = null;
    if (this.root.contains(document.activeElement)) this.#passFocus();
    this.root.hidden = true;
    setText(this.text, "");
  }

  // Private

  #passFocus() {
    const dialog = this.root.closest("dialog");
    if (dialog) dialog.querySelector("button")?.focus();
    else this.heir.takeFocus();
  }
}
