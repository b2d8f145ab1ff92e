/**
 * Copying a text, also where the page is plain http and the browser has no clipboard API: there a
 * selected textarea and the old copy command do it. The outcome is always said on the button.
 */

import { say } from "../words.js";
import { setText } from "./parts.js";

const SHOWN_MS = 1600;

/**
 * @param {HTMLButtonElement} button
 * @param {() => string} text
 */
export function mountCopy(button, text) {
  const label = /** @type {Element} */ (button.querySelector("[data-word]") ?? button);
  const usual = label.textContent ?? "";
  button.addEventListener("click", async () => {
    const copied = await copy(text(), button);
    setText(label, say(copied ? "copied" : "copyFailed"));
    setTimeout(() => setText(label, usual), SHOWN_MS);
  });
}

/** @param {string} text @param {HTMLElement} returnTo gets the focus back */
export async function copy(text, returnTo) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text, returnTo);
  }
}

// Private

/** @param {string} text @param {HTMLElement} returnTo */
function copyBySelection(text, returnTo) {
  const area = document.createElement("textarea");
  area.className = "sr-only";
  area.value = text;
  document.body.append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } catch {
    return false;
  } finally {
    area.remove();
    returnTo.focus();
  }
}
