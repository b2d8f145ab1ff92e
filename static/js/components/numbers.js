/**
 * The row of numbers under a reply. Each is a button whose description is its formula, shown on hover,
 * focus and touch; Escape closes it.
 */

import { spellRate, spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { element, part, setText } from "./parts.js";

/** @typedef {import("../measure/numbers.js").Numbers} Numbers */

let count = 0;

/** @type {{ name: string, formula: string, value: (numbers: Numbers) => string }[]} */
const SHOWN = [
  { name: "firstWord", formula: "firstWordFormula", value: (n) => spellTime(n.first_ms) },
  { name: "gaps", formula: "gapsFormula", value: gapsText },
  { name: "lastWord", formula: "lastWordFormula", value: (n) => spellTime(n.last_ms) },
  { name: "tokens", formula: "tokensFormula", value: (n) => (n.tokens === null ? say("none") : String(n.tokens)) },
  { name: "rate", formula: "rateFormula", value: (n) => spellRate(n.tokensPerSecond) },
];

/**
 * @param {ParentNode} root holds the part "numbers"
 * @returns {{ update(numbers: Numbers): void }}
 */
export function mountNumbers(root) {
  const list = part(root, "numbers", HTMLUListElement);
  const values = SHOWN.map(({ name, formula }) => {
    const id = `formula-${(count += 1)}`;
    const value = element("span", "value", say("none"));
    const button = element("button", "number", element("span", "name", say(name)), value);
    button.setAttribute("type", "button");
    button.setAttribute("aria-describedby", id);
    button.dataset.number = name;
    const tip = element("span", "tip", say(formula));
    tip.id = id;
    tip.setAttribute("role", "tooltip");
    const item = element("li", "", button, tip);
    item.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !item.matches(":focus-within")) return;
      event.stopPropagation(); // This Escape closes the formula; it does not stop the reply.
      button.blur();
    });
    list.append(item);
    return value;
  });
  return {
    update(numbers) {
      SHOWN.forEach(({ value }, i) => setText(/** @type {HTMLElement} */ (values[i]), value(numbers)));
    },
  };
}

// Private

/** @param {Numbers} numbers */
function gapsText({ gapMedian_ms, gapLongest_ms }) {
  if (gapMedian_ms === null) return say("none");
  return say("gapsValue", { median: spellTime(gapMedian_ms), longest: spellTime(gapLongest_ms) });
}
