/**
 * Keys and clicker: the listener, the sheet that lists the keys and can turn them off, and the black
 * screen. What a key does to the race is handed on.
 */

import { actionOf } from "../race/keys.js";
import { SPEEDS } from "../race/playhead.js";
import { say } from "../words.js";
import { lettersAreOn, turnLetters } from "./letters.js";
import { part } from "./parts.js";

const SHEET = ["keyStart", "keyPause", "keySteps", "keyReplay", "keySpeed", "keyBlank", "keySheet"];

/**
 * @param {HTMLElement} page
 * @param {(action: Exclude<import("../race/keys.js").Action, "blank" | "sheet">, at_ms: number) => void} act
 */
export function mountRaceKeys(page, act) {
  const sheet = part(page, "keys-sheet", HTMLDialogElement);
  const on = part(page, "keys-on", HTMLInputElement);
  const blank = part(page, "blank", HTMLElement);
  on.checked = lettersAreOn();
  on.addEventListener("change", () => turnLetters(on.checked));
  part(page, "keys-list", HTMLElement).replaceChildren(...SHEET.flatMap((name) => [
    term("dt", say(name)), term("dd", say(`${name}Does`, { speeds: SPEEDS.map((speed) => say("speedValue", { value: speed })).join(" ") })),
  ]));
  part(page, "keys", HTMLButtonElement).addEventListener("click", () => sheet.showModal());
  const toggleBlank = () => { blank.hidden = !blank.hidden; };
  blank.addEventListener("click", toggleBlank);
  page.addEventListener("keydown", (event) => {
    if (event.isComposing || sheet.open) return;
    const target = event.target instanceof Element ? event.target : page;
    const action = actionOf(event, {
      inField: target.closest("textarea, select, input:not([type=range]):not([type=checkbox]):not([type=file])") !== null,
      onButton: target.closest("button, summary, label, input[type=checkbox]") !== null, lettersOn: lettersAreOn(),
    });
    const isStep = action === "back" || action === "on";
    // The handle's own arrow keys move it; a closed screen takes only what opens it.
    if (action === null || (isStep && target.closest("input[type=range]"))) return;
    event.preventDefault();
    if (action === "blank") toggleBlank();
    else if (action === "sheet") sheet.showModal();
    else if (blank.hidden) act(action, event.timeStamp);
  });
}

// Private

/** @param {string} tag @param {string} text */
function term(tag, text) {
  const element = document.createElement(tag);
  element.textContent = text;
  return element;
}
