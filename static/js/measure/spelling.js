/**
 * How times are written for people: three significant places are enough, and a clock that runs shows
 * tenths, which the eye can follow. Pure.
 */

import { say } from "../words.js";

/** @param {number | null} ms @returns {string} "84 ms", "1.82 s", "12.4 s", or a dash */
export function spellTime(ms) {
  if (ms === null) return say("none");
  if (ms < 999.5) return say("milliseconds", { value: Math.round(Math.max(0, ms)) });
  const seconds = ms / 1000;
  return say("seconds", { value: seconds.toFixed(seconds < 9.995 ? 2 : 1) });
}

/** @param {number} ms @returns {string} "1.8 s": for a running clock */
export function spellClock(ms) {
  return say("seconds", { value: (Math.max(0, ms) / 1000).toFixed(1) });
}

/** @param {number} ms @returns {string} "21 s", "2 min": for estimates */
export function spellRoughly(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 100 ? say("seconds", { value: seconds }) : say("minutes", { value: Math.round(seconds / 60) });
}

/** @param {number | null} rate per second @returns {string} */
export function spellRate(rate) {
  return rate === null ? say("none") : say("perSecond", { value: rate.toFixed(rate < 9.95 ? 1 : 0) });
}
