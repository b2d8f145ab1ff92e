/**
 * How long did it feel? Two sliders, one for each position, told when both have been touched. It starts
 * with nothing chosen: a default would be an answer.
 */

import { say } from "../words.js";
import { part, setText } from "./parts.js";

export class RoomFelt {
  #round = 0;
  /** @type {Set<string>} */
  #touched = new Set();

  /** @param {HTMLElement} page @param {(first_s: number, second_s: number) => boolean} felt whether it could be said */
  constructor(page, felt) {
    this.page = page;
    this.form = part(page, "felt", HTMLFormElement);
    for (const name of ["felt-1", "felt-2"]) {
      const slider = part(page, name, HTMLInputElement);
      slider.addEventListener("input", () => {
        this.#touched.add(name);
        setText(part(page, `${name}-value`, HTMLOutputElement), say("seconds", { value: slider.value }));
      });
      slider.addEventListener("change", () => {
        if (this.#touched.size < 2) return;
        const isSaid = felt(Number(part(page, "felt-1", HTMLInputElement).value), Number(part(page, "felt-2", HTMLInputElement).value));
        setText(part(page, "felt-note", HTMLElement), isSaid ? say("feltKept") : "");
      });
    }
    this.form.addEventListener("submit", (event) => event.preventDefault());
  }

  /** It was not kept. */
  takeBack() {
    setText(part(this.page, "felt-note", HTMLElement), "");
  }

  /** @param {number} round @param {boolean} isAsked */
  show(round, isAsked) {
    this.form.hidden = !isAsked;
    if (round === this.#round) return;
    this.#round = round;
    this.#touched.clear();
    this.form.reset();
    setText(part(this.page, "felt-note", HTMLElement), "");
    for (const name of ["felt-1", "felt-2"]) setText(part(this.page, `${name}-value`, HTMLOutputElement), say("none"));
  }
}
