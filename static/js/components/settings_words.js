/** What is not usual about settings, in a few words: "seed 7, temperature 0, slow motion 5/s". Pure. */

import { NUMBERS, plainSettings } from "../chat/settings.js";
import { say } from "../words.js";

/** @param {import("../chat/settings.js").Settings} settings @returns {string} "" when all is as usual */
export function spellSettings(settings) {
  const plain = plainSettings();
  const words = NUMBERS.filter((name) => settings[name] !== null).map((name) => say(`short_${name}`, { value: String(settings[name]) }));
  if (settings.pace !== plain.pace) words.push(say(`short_pace_${settings.pace}`));
  if (settings.smoothed) words.push(say("short_smoothed"));
  if (settings.inspect) words.push(say("short_inspect"));
  if (settings.system.trim()) words.push(say("short_system"));
  return words.join(", ");
}
