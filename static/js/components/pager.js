/**
 * "2 of 3" with arrows: steps through things that stand in one place. Arrow keys work too while the
 * focus is in it. Where a step takes the pager itself from the page, its owner carries the focus over.
 *
 * @typedef {"earlier" | "later"} Arrow
 */

import { say } from "../words.js";
import { fromTemplate, part, setText } from "./parts.js";

export class Pager {
  /** @type {string[]} */
  #ids = [];
  #at = 0;

  /**
   * @param {(place: { place: number, count: number }) => string} spell what the two numbers mean
   * @param {(id: string) => void} choose
   */
  constructor(spell, choose) {
    this.spell = spell;
    this.choose = choose;
    this.element = fromTemplate("pager-template");
    this.earlier = part(this.element, "earlier", HTMLButtonElement);
    this.later = part(this.element, "later", HTMLButtonElement);
    this.earlier.setAttribute("aria-label", say("earlierOne"));
    this.later.setAttribute("aria-label", say("laterOne"));
    this.earlier.addEventListener("click", () => this.#step(-1));
    this.later.addEventListener("click", () => this.#step(1));
    this.element.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) this.#step(step);
    });
  }

  /** @param {string[]} ids @param {string | undefined} shown */
  update(ids, shown) {
    this.#ids = ids;
    this.#at = Math.max(0, ids.indexOf(shown ?? ""));
    this.element.hidden = ids.length < 2;
    const place = { place: this.#at + 1, count: ids.length };
    setText(part(this.element, "place", HTMLElement), this.spell(place));
    // Not `disabled`: a button that is disabled under the focus throws a keyboard user out.
    this.earlier.setAttribute("aria-disabled", String(this.#at === 0));
    this.later.setAttribute("aria-disabled", String(this.#at === ids.length - 1));
  }

  /** @returns {Arrow | null} which of its arrows has the focus */
  get focused() {
    const { activeElement } = document;
    return activeElement === this.earlier ? "earlier" : activeElement === this.later ? "later" : null;
  }

  /** @param {Arrow} arrow */
  focus(arrow) {
    this[arrow].focus();
  }

  // Private

  /** @param {number} by */
  #step(by) {
    const id = this.#ids[this.#at + by];
    if (id) this.choose(id);
  }
}
