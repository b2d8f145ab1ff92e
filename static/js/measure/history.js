/**
 * The first words of one conversation, in the order of asking: how long each reply let its reader wait,
 * by the way it was delivered. Pure.
 *
 * @typedef {"streamed" | "whole"} Mode
 * @typedef {{ place: number, mode: Mode, first_ms: number, last_ms: number }} Wait
 */

import { median } from "./numbers.js";

/**
 * @param {{ mode: Mode, state: string, firstPaint_ms: number | null, lastPaint_ms: number | null,
 *   flags: { resumed: boolean } }[]} replies in the order of asking
 * @returns {Wait[]} without replies whose times are not whole
 */
export function waitsOf(replies) {
  return replies.flatMap(({ mode, state, firstPaint_ms, lastPaint_ms, flags }, i) =>
    firstPaint_ms === null || flags.resumed || state === "failed" ? []
      : [{ place: i + 1, mode, first_ms: firstPaint_ms, last_ms: lastPaint_ms ?? firstPaint_ms }]);
}

/** @param {Wait[]} waits @param {Mode} mode @returns {{ count: number, median_ms: number | null }} */
export function usualWait(waits, mode) {
  const times = waits.filter((wait) => wait.mode === mode).map(({ first_ms }) => first_ms);
  return { count: times.length, median_ms: median(times) };
}
