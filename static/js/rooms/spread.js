/**
 * How first words spread over a class, as geometry: the phones' first words as a histogram upwards, the
 * server's share of them downwards, on one axis of time, so that what is left between the two is the way
 * and the phone. Pure.
 *
 * @typedef {{ x: number, y: number, width: number, height: number, count: number }} Bar
 * @typedef {{ width: number, height: number, base: number, axis_ms: number, phones: Bar[], server: Bar[],
 *   median: number | null, marks: { x: number, ms: number }[], most: number }} SpreadShape
 */

import { median } from "../measure/numbers.js";

const STEPS_MS = [50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 120_000, 600_000];
const BINS = 24;

/**
 * @param {number[]} phones_ms
 * @param {number[]} server_ms
 * @param {{ width: number, height: number, text: number }} room `text`: height of the axis' letters
 * @returns {SpreadShape}
 */
export function spreadShape(phones_ms, server_ms, { width, height, text }) {
  const longest = Math.max(100, ...phones_ms, ...server_ms);
  const step = STEPS_MS.find((candidate) => longest / candidate <= 6) ?? /** @type {number} */ (STEPS_MS.at(-1));
  const axis_ms = Math.ceil((longest * 1.001) / step) * step;
  const left = text * 0.6;
  const inner = width - 2 * left - text;
  const x = (/** @type {number} */ ms) => round(left + (ms / axis_ms) * inner);
  const room = height - text * 1.6;
  const base = round(server_ms.length ? room * 0.52 : room);
  const up = histogram(phones_ms, axis_ms);
  const down = histogram(server_ms, axis_ms);
  const most = Math.max(1, ...up, ...down);
  const unit = Math.max(0, Math.min(base - 6, room - base - 4)) / most;
  const bar = (/** @type {number} */ count, /** @type {number} */ i, /** @type {boolean} */ upwards) => {
    const tall = Math.max(0, round(count * (upwards ? (server_ms.length ? unit : (base - 6) / most) : unit)));
    return { x: x((i * axis_ms) / BINS) + 1, y: upwards ? round(base - tall) : base, width: round(inner / BINS - 2), height: tall, count };
  };
  const middle = median(phones_ms);
  return {
    width, height, base, axis_ms, most,
    phones: up.map((count, i) => bar(count, i, true)).filter(({ count }) => count > 0),
    server: down.map((count, i) => bar(count, i, false)).filter(({ count }) => count > 0),
    median: middle === null ? null : x(middle),
    marks: Array.from({ length: Math.round(axis_ms / step) + 1 }, (_, i) => ({ x: x(i * step), ms: i * step })),
  };
}

// Private

/** @param {number[]} values @param {number} axis_ms @returns {number[]} how many fall into each bin */
function histogram(values, axis_ms) {
  const bins = new Array(BINS).fill(0);
  for (const value of values) bins[Math.min(BINS - 1, Math.floor((value / axis_ms) * BINS))] += 1;
  return bins;
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
