/** A row of names and numbers under a picture. */

import { element, setText } from "./parts.js";
import { say } from "../words.js";

export class Figures {
  /** @type {Map<string, HTMLElement>} */
  #values = new Map();

  /** @param {string[]} words names of the numbers */
  constructor(words) {
    this.element = element("dl", "lab-figures", ...words.map((word) => {
      const value = element("dd", "", say("none"));
      value.dataset.figure = word;
      this.#values.set(word, value);
      return element("div", "", element("dt", "", say(word)), value);
    }));
  }

  /** @param {Record<string, string | number>} values */
  show(values) {
    for (const [word, value] of Object.entries(values)) {
      const place = this.#values.get(word);
      if (place) setText(place, String(value));
    }
  }
}
