/** What stands around a picture: what its colours mean, and a row of names and numbers. */

import { element, setText, svg } from "./parts.js";
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

/**
 * @param {string} picture whose sheet gives the colours by their classes; "" for none
 * @param {[string, Record<string, string>][]} entries a word, and how its colour is drawn
 */
export function colourKey(picture, entries) {
  return element("p", `lab-key ${picture}`, ...entries.map(([word, look]) => element("span", "",
    svg("svg", { viewBox: "0 0 14 9", "aria-hidden": "true" }, svg("rect", { width: 14, height: 9, ...look })), say(word))));
}
