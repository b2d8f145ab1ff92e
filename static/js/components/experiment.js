/** A link with an experiment, opened: fills the composer and the settings of a new chat, says so, and
 * sends nothing. What a link has beyond our limits is named, not taken. */

import { readExperiment } from "../chat/share_link.js";
import { say } from "../words.js";
import { wordsOf } from "./files.js";
import { spellSettings } from "./settings_words.js";

/**
 * @param {string} fragment
 * @param {import("../chat/session.js").Session} session
 * @param {import("./composer.js").Composer} composer
 * @param {(text: string) => void} tell
 */
export function mountExperiment(fragment, session, composer, tell) {
  try {
    const { prompt, mode, settings, refused } = readExperiment(fragment);
    session.startNew(settings);
    composer.mode = mode;
    composer.fill(prompt);
    const words = spellSettings(settings);
    const opened = words ? say("linkOpenedWith", { words }) : say("linkOpened");
    tell(refused.length > 0 ? `${opened} ${say("linkRefused", { names: refused.slice(0, 10).join(", ") })}` : opened);
  } catch (error) {
    tell(wordsOf(error));
  }
}
