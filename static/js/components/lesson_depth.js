/**
 * Three depths of one text: a control for the whole lesson and one for each paragraph. Without it the
 * plain words are shown and the other depths open like any <details>.
 */

import { recall, remember } from "../remembered.js";
import { say } from "../words.js";
import { element } from "./parts.js";

const DEPTHS = ["plain", "code", "research"];
let controls = 0;

/** @param {HTMLElement} lesson @param {HTMLElement} all the fieldset of the control for everything */
export function mountDepths(lesson, all) {
  const chosen = recall("depth", "plain");
  const paragraphs = Array.from(lesson.querySelectorAll(".paragraph"), (paragraph) =>
    mountParagraph(/** @type {HTMLElement} */ (paragraph), chosen));
  all.append(...choices(chosen, (depth) => {
    remember("depth", depth);
    for (const show of paragraphs) show(depth);
  }));
}

// Private

/** @param {HTMLElement} paragraph @param {string} chosen @returns {(depth: string) => void} */
function mountParagraph(paragraph, chosen) {
  const bodies = Array.from(paragraph.querySelectorAll("[data-depth]"), (body) => /** @type {HTMLElement} */ (body));
  for (const body of bodies) if (body instanceof HTMLDetailsElement) body.open = true;
  const fieldset = element("fieldset", "depths small", element("legend", "sr-only", say("depthHere")));
  const show = (/** @type {string} */ depth) => {
    paragraph.dataset.shown = depth;
    for (const body of bodies) body.hidden = body.dataset.depth !== depth;
    for (const input of fieldset.querySelectorAll("input")) input.checked = input.value === depth;
  };
  fieldset.append(...choices(chosen, show));
  paragraph.append(fieldset);
  paragraph.classList.add("switchable");
  show(DEPTHS.includes(chosen) ? chosen : "plain");
  return show;
}

/** @param {string} chosen @param {(depth: string) => void} choose */
function choices(chosen, choose) {
  const name = `depth-${(controls += 1)}`;
  return DEPTHS.map((depth) => {
    const input = document.createElement("input");
    Object.assign(input, { type: "radio", name, value: depth, checked: depth === chosen });
    input.addEventListener("change", () => choose(depth));
    return element("label", "", input, element("span", "", say(`depth_${depth}`)));
  });
}
