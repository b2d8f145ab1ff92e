/**
 * What the race has shown, in one sentence made from what was measured: never the hoped-for one. Where
 * the lanes did not do the same work, a lane broke, or the tab was hidden, it says that instead. Pure.
 *
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {{ same: string, sooner: string, notes: string[] }} Verdict `sooner` is the part to stress
 */

import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { firstWordOf, isWhole, lastWordOf, textOf } from "./lane.js";
import { nameOf } from "./lane_words.js";

/** Totals that differ by less count as the same: a frame and the noise of a busy machine. */
const SAME_SHARE = 0.03;
const SAME_MS = 100;
/** First words closer than this are no difference that anybody feels. */
const FELT_RATIO = 1.15;

/** @param {Lane[]} lanes all of them over @returns {Verdict} */
export function verdictOn(lanes) {
  const notes = [
    ...(lanes.some(({ hidden }) => hidden) ? [say("hiddenFlag")] : []),
    ...(lanes.some(({ late }) => late) ? [say("verdictLate")] : []),
  ];
  const broken = lanes.filter((lane) => !isWhole(lane));
  if (broken.length) return { same: say(broken.some(({ error }) => error) ? "verdictBroken" : "verdictStopped", { lanes: broken.map(nameOf).join(", ") }), sooner: "", notes };
  if (lanes.every(({ arrivals }) => arrivals.length === 0)) return { same: say("verdictEmpty"), sooner: "", notes };
  const tokens = tokensOf(lanes);
  const sameText = haveSameText(lanes);
  if (!sameText) return { same: say("verdictDifferent"), sooner: soonerPart(lanes), notes };
  return { same: samePart(lanes, tokens), sooner: tokens === 1 ? say("verdictOneToken") : soonerPart(lanes), notes };
}

/** @param {Lane[]} lanes @returns {boolean} letter by letter */
export function haveSameText(lanes) {
  return new Set(lanes.map((lane) => textOf(lane))).size === 1;
}

/** @param {Lane[]} lanes @returns {number | null} as the server counted; null where it was never told, or lanes differ */
export function tokensOf(lanes) {
  const counts = new Set(lanes.flatMap(({ done }) => (done ? [done.usage.completion_tokens] : [])));
  return counts.size === 1 ? /** @type {number} */ ([...counts][0]) : null;
}

/** @param {Lane[]} lanes @returns {number | null} how many times sooner the soonest first word came than the latest */
export function ratioOf(lanes) {
  const times = lanes.map(firstWordOf).filter((time) => time !== null);
  const soonest = Math.min(...times);
  return times.length > 1 && soonest > 0 ? Math.max(...times) / soonest : null;
}

// Private

/** @param {Lane[]} lanes @param {number | null} tokens */
function samePart(lanes, tokens) {
  const lasts = lanes.map(lastWordOf).filter((time) => time !== null);
  const latest = Math.max(...lasts);
  const apart = latest - Math.min(...lasts);
  const isSame = apart <= Math.max(SAME_MS, latest * SAME_SHARE);
  const work = tokens === null ? say("verdictSameText") : say("verdictSameTokens", { count: tokens });
  if (isSame) return say("verdictSameTime", { work, time: spellTotal(latest) });
  return say("verdictOtherTimes", { work, times: lasts.map(spellTotal).join(", ") });
}

/** @param {Lane[]} lanes */
function soonerPart(lanes) {
  const ratio = ratioOf(lanes);
  if (ratio === null) return "";
  const timed = [...lanes].filter((lane) => firstWordOf(lane) !== null).sort((a, b) => Number(firstWordOf(a)) - Number(firstWordOf(b)));
  const first = /** @type {Lane} */ (timed[0]);
  const last = /** @type {Lane} */ (timed.at(-1));
  if (ratio < FELT_RATIO) return say("verdictNoDifference");
  const times = spellRatio(ratio);
  const isUsual = lanes.length === 2 && first.settings.delivery !== "whole" && last.settings.delivery === "whole";
  return isUsual ? say("verdictSooner", { times }) : say("verdictSoonerOf", { times, first: nameOf(first), last: nameOf(last) });
}

/** @param {number} ratio */
const spellRatio = (ratio) => (ratio >= 9.95 ? String(Math.round(ratio)) : ratio.toFixed(1));

/** @param {number} ms @returns {string} "4.3 s": for totals, tenths are enough */
const spellTotal = (ms) => (ms < 999.5 ? spellTime(ms) : say("seconds", { value: (ms / 1000).toFixed(1) }));
