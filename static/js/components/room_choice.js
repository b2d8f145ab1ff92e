/**
 * One question with two or three large buttons, on a phone. The chosen one stays marked and can be changed
 * until the vote is closed; whether it counts says the server's state alone.
 */

import { element, part, setText } from "./parts.js";

export class RoomChoice {
  /** @type {string} */
  #shown = "";

  /** @param {HTMLElement} root @param {(choice: string) => void} chosen */
  constructor(root, chosen) {
    this.question = part(root, "question", HTMLElement);
    this.buttons = part(root, "choices", HTMLElement);
    this.note = part(root, "choice-note", HTMLElement);
    this.buttons.addEventListener("click", ({ target }) => {
      const button = target instanceof Element ? target.closest("button") : null;
      if (button instanceof HTMLButtonElement && !button.disabled) chosen(button.value);
    });
  }

  /**
   * @param {string} question
   * @param {[string, string][]} choices value and label
   * @param {string | null | undefined} chosen as the server has it
   * @param {{ can: boolean, note: string }} how
   */
  show(question, choices, chosen, { can, note }) {
    setText(this.question, question);
    setText(this.note, note);
    const names = JSON.stringify(choices);
    if (names !== this.#shown) {
      this.#shown = names;
      this.buttons.replaceChildren(...choices.map(([value, label]) => {
        const button = /** @type {HTMLButtonElement} */ (element("button", value.length === 1 && /\d/.test(label) ? "choice figure" : "choice", label));
        button.type = "button";
        button.value = value;
        return button;
      }));
    }
    for (const button of this.buttons.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button.value === chosen));
      button.disabled = !can;
    }
  }
}
