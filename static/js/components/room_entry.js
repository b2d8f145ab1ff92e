/**
 * The way in by hand: a code in any case, with spaces and hyphens, and one plain sentence where it does
 * not work. What joining means is handed in.
 */

import { Refused } from "../rooms/door.js";
import { codeOf, readFragment, spellCode } from "../rooms/join_code.js";
import { entryWord } from "../rooms/refusals.js";
import { say } from "../words.js";
import { part, setText } from "./parts.js";
import { showScreen } from "./room_screen.js";

/**
 * @param {HTMLElement} page
 * @param {(code: string) => Promise<void>} join rejects with Refused, or when the server is away
 */
export function mountEntry(page, join) {
  const field = part(page, "code", HTMLInputElement);
  const note = part(page, "enter-note", HTMLElement);
  const button = part(page, "enter", HTMLButtonElement);
  part(page, "enter-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    attempt(codeOf(field.value));
  });

  /** @param {string | null} code */
  async function attempt(code) {
    if (code === null) return complain(say("enterShort"));
    button.disabled = true;
    field.removeAttribute("aria-invalid");
    setText(note, say("enterTrying"));
    try {
      await join(code);
    } catch (error) {
      showScreen(page, "enter");
      complain(error instanceof Refused ? say(entryWord(error.code), { code: error.code }) : say("enterFailed"));
    } finally {
      button.disabled = false;
    }
  }

  /** @param {string} words */
  function complain(words) {
    setText(note, words);
    field.setAttribute("aria-invalid", "true");
    field.select();
  }

  return {
    /** @param {string} fragment of the page's address */
    async begin(fragment) {
      const given = readFragment(fragment);
      if (!given) return showScreen(page, "enter");
      field.value = spellCode(given.code);
      await attempt(given.code);
    },
  };
}
