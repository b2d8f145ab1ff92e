/**
 * The numbers of a race as CSV: one line a number and lane, so that every program can sort it. A text
 * that a spreadsheet would take for a formula is made harmless. Pure.
 */

import { nameOf, settingsText } from "./lane_words.js";
import { numbersOfRace } from "./numbers.js";

/** @param {import("./race.js").Race} race @returns {string} */
export function csvOf({ lanes, experiment, madeAt }) {
  const lines = numbersOfRace(lanes, experiment.wordsPerMinute).flatMap(({ name, unit, values }) =>
    lanes.map((lane, i) => [madeAt, experiment.prompt, i + 1, nameOf(lane), settingsText(lane.settings), name, unit, values[i] ?? null]));
  const head = ["made_at", "prompt", "lane", "name", "settings", "number", "unit", "value"];
  return [head, ...lines].map((cells) => cells.map(cell).join(",")).join("\r\n") + "\r\n";
}

// Private

/** @param {string | number | null} value */
function cell(value) {
  if (value === null) return "";
  if (typeof value === "number") return String(Math.round(value * 1000) / 1000);
  const safe = /^[\s]*[=+\-@]|^[\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
