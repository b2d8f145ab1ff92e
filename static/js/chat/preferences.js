/** Settings that a new conversation begins with, kept in this browser. What is stored is checked like
 * anybody's data: an older page may have written it. */

import { recall, remember } from "../remembered.js";
import { chosenSettings, plainSettings, readSettings } from "./settings.js";

const NAME = "settings";

/** @param {Storage | null} [storage] @returns {import("./settings.js").Settings} */
export function recallSettings(storage) {
  try {
    return readSettings(JSON.parse(recall(NAME, "{}", storage))).settings;
  } catch {
    return plainSettings();
  }
}

/** @param {import("./settings.js").Settings} settings @param {Storage | null} [storage] */
export function rememberSettings(settings, storage) {
  remember(NAME, JSON.stringify(chosenSettings(settings)), storage);
}
