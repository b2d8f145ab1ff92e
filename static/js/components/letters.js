/**
 * Keys that are a single letter or sign. They act outside of fields only, and can be turned off: who
 * speaks to the computer, or shakes, would set them off by accident.
 */

import { recall, remember } from "../remembered.js";

export const lettersAreOn = () => recall("letters", "on") === "on";

/** @param {boolean} on */
export const turnLetters = (on) => remember("letters", on ? "on" : "off");

/** @param {KeyboardEvent} event @param {string} key in lower case @returns {boolean} whether this is that key, meant as a command */
export function isLetter(event, key) {
  const { target } = event;
  const inField = target instanceof Element && target.closest("textarea, input:not([type=radio]), select, [contenteditable], dialog");
  return event.key.toLowerCase() === key && !inField && !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat && lettersAreOn();
}
