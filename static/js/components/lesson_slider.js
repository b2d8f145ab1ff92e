/** A slider with its value in words beside it; it tells its value at once and at every change. */

import { element, setText } from "./parts.js";

/**
 * @param {{ min: number, max: number, step: number, value: number, label: (value: number) => string }} range
 * @param {(value: number) => void} tell
 * @returns {HTMLElement}
 */
export function slider({ min, max, step, value, label }, tell) {
  const input = document.createElement("input");
  Object.assign(input, { type: "range", min: String(min), max: String(max), step: String(step) });
  input.value = String(value);
  const words = element("span", "slider-words");
  const take = () => {
    const chosen = Number(input.value);
    setText(words, label(chosen));
    input.setAttribute("aria-valuetext", label(chosen));
    tell(chosen);
  };
  input.addEventListener("input", take);
  const whole = element("label", "slider", input, words);
  take();
  return whole;
}
