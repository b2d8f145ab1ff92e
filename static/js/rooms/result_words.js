/**
 * What a closed vote says, in the page's language: the sentence to read aloud and what has to be said with
 * it, made from the server's numbers. (The server writes the same in English, for files and programs.) It
 * refuses to know elements, and computes nothing.
 *
 * @typedef {import("./room_frames.js").Round} Round
 * @typedef {import("./room_frames.js").Results} Results
 */

import { say } from "../words.js";

/** Below so many decided votes there is no verdict; a first paint further off than this was another stimulus. */
const MIN_DECIDED = 20;
const TOLERANCE_MS = 250;
const REASONS = /** @type {const} */ (["hidden", "no_report", "off_plan"]);

/** @param {Round} round @param {"a" | "b"} lane */
export const labelOf = (round, lane) => round.lanes?.[lane].label || say(lane === "a" ? "laneA" : "laneB");

/** @param {Round} round @param {Results} results @returns {string} the leader as the page calls it */
export function leaderOf(round, { leader }) {
  if (leader === null) return say("eachHalf");
  return leader === "a" || leader === "b" ? labelOf(round, leader) : say(leader === "1" ? "position1" : "position2");
}

/** @param {Round} round @param {Results} results @returns {string} to read aloud: counts, what they allow to say, where it holds */
export function sentenceOf(round, results) {
  const { decided, leader, leader_votes: votes, low, high, p, verdict } = results;
  if (decided === 0) return say("toldNobody");
  const name = round.catch ? say(leader === "1" ? "toldFirst" : "toldSecond") : say("toldLane", { name: leaderOf(round, results) });
  const counted = leader === null ? say(`toldHalf_${round.question}`, { decided }) : say(`toldMost_${round.question}`, { votes, decided, name });
  const same = results.lanes.same ?? 0;
  const unsure = same ? say("toldUnsure", { same }) : "";
  const interval = say("toldInterval", { low: percent(low), high: percent(high), unsure });
  const test = say(`toldTest_${verdict}`, { p: spellP(p), least: MIN_DECIDED });
  return say("toldSentence", { counted, interval, test });
}

/** @param {Round} round @param {Results} results @returns {string[]} in the order in which a teacher should say them */
export function caveatsOf(round, { one_order, altered, early, decided, excluded }) {
  const reasons = REASONS.filter((reason) => (excluded[reason] ?? 0) > 0);
  const total = reasons.reduce((sum, reason) => sum + (excluded[reason] ?? 0), 0);
  return [
    ...(round.catch ? [say("caveatCatch")] : []),
    ...(one_order ? [say("caveatOneOrder")] : []),
    ...(altered ? [say("caveatAltered")] : []),
    ...(early ? [say("caveatEarly")] : []),
    ...(decided < MIN_DECIDED ? [say("caveatFew", { least: MIN_DECIDED })] : []),
    ...(total ? [say("caveatExcluded", { total, reasons: reasons.map((reason) => say(`excluded_${reason}`, { count: excluded[reason] ?? 0, ms: TOLERANCE_MS })).join(", ") })] : []),
    say("caveatSeveral"),
  ];
}

// Private

/** @param {number} share */
const percent = (share) => Math.round(100 * share);

/** @param {number} p never shown as 0 */
function spellP(p) {
  if (p < 0.001) return "p < 0.001";
  return `p = ${p.toFixed(p < 0.1 ? 3 : 2)}`;
}
