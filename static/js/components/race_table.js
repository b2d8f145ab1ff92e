/**
 * The table of numbers: a row a number, a column a lane; each name opens its formula.
 */

import { spellRate, spellTime } from "../measure/spelling.js";
import { haveSameText } from "../race/verdict.js";
import { nameOf } from "../race/lane_words.js";
import { textOf } from "../race/lane.js";
import { numbersOfRace } from "../race/numbers.js";
import { sha256 } from "../race/sha256.js";
import { say } from "../words.js";

/** @param {HTMLTableElement} table @param {import("../race/race.js").Race} race */
export function showNumbers(table, { lanes, experiment }) {
  const head = document.createElement("thead");
  head.append(row(cell("th", "col", say("number")), ...lanes.map((lane) => cell("th", "col", nameOf(lane)))));
  const body = document.createElement("tbody");
  for (const { name, unit, values } of numbersOfRace(lanes, experiment.wordsPerMinute)) {
    const line = row(cell("th", "row", formula(name)), ...values.map((value) => cell("td", "", spell(value, unit))));
    line.dataset.number = name;
    body.append(line);
  }
  table.replaceChildren(head, body);
}

/** One generation or several, one text or several: said, with what can be checked. @param {import("../race/race.js").Race} race */
export function proofText({ lanes, serverClock }) {
  const replies = new Set(lanes.map(({ reply }) => reply));
  const [reply] = replies;
  return [
    say(replies.size === 1 && reply ? "proofSameReply" : "proofOwnReplies", { reply: reply ?? "" }),
    haveSameText(lanes) ? say("proofSameText", { hash: sha256(textOf(/** @type {import("../race/lane.js").Lane} */ (lanes[0]))).slice(0, 16) }) : say("proofOtherText"),
    ...(serverClock ? [say("proofServerClock")] : []),
  ].join(" ");
}

// Private

/** @param {string} name */
function formula(name) {
  const details = document.createElement("details");
  details.className = "formula";
  const summary = document.createElement("summary");
  summary.textContent = say(`n_${name}`);
  summary.title = say(`f_${name}`);
  const text = document.createElement("p");
  text.textContent = say(`f_${name}`);
  details.append(summary, text);
  return details;
}

/** @param {number | null} value @param {import("../race/numbers.js").Unit} unit */
function spell(value, unit) {
  if (value === null) return say("undefinedNumber");
  switch (unit) {
    case "ms": return value < 0 ? `−${spellTime(-value)}` : spellTime(value);
    case "ms/token": return say("perToken", { value: value.toFixed(1) });
    case "1/s": return spellRate(value);
    case "ratio": return say("ratio", { value: value.toFixed(3) });
    case "share": return value.toFixed(3);
    default: return String(value);
  }
}

/** @param {Node[]} cells */
function row(...cells) {
  const line = document.createElement("tr");
  line.append(...cells);
  return line;
}

/** @param {"th" | "td"} tag @param {string} scope @param {Node | string} content */
function cell(tag, scope, content) {
  const made = document.createElement(tag);
  if (scope) made.setAttribute("scope", scope);
  made.append(content);
  return made;
}
