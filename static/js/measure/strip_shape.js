/**
 * The strip as geometry: from the times of one reply to the lines and boxes of a drawing. x is time
 * since Send; a hatched box while there was nothing to read, which is until the first paint; a tick for
 * every arrival, as tall as the words it brought (the first stands inside the box, by as much as
 * painting took); an end cap; below, the line of somebody reading along. Pure.
 *
 * @typedef {import("./numbers.js").Arrival} Arrival
 * @typedef {{ width: number, top: number, bottom: number, axis_ms: number, wait: number, ticks: string,
 *   end: number | null, reading: { from: number, to: number } | null,
 *   marks: { x: number, ms: number }[] }} StripShape
 */

import { readingTime_ms } from "./words_read.js";

/** A tick of so many words reaches the top; heights grow with the logarithm of the words. */
const FULL_WORDS = 64;
const STEPS_MS = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000];
/** Room for so many labels, and no more, keeps them apart on a phone. */
const PX_PER_LABEL = 64;
/** Two lines closer than this are one line to the eye. */
const CLOSEST_PX = 0.5;

/**
 * @param {{ arrivals: Arrival[], now_ms: number, ended: boolean, firstPaint_ms?: number | null }} reply
 *   `now_ms`: time of the last sign of life
 * @param {{ width: number, height: number, axis_ms?: number }} room `axis_ms`: an axis shared with another strip
 * @returns {StripShape}
 */
export function stripShape({ arrivals, now_ms, ended, firstPaint_ms }, { width, height, axis_ms }) {
  const shown_ms = Math.max(now_ms, arrivals.at(-1)?.at_ms ?? 0);
  const axis = axis_ms ?? axisFor(shown_ms);
  const inner = width - 6; // The end cap must not be cut off.
  const x = (/** @type {number} */ ms) => round((ms / axis) * inner);
  const bottom = height - 8;
  const first = arrivals[0];
  const readable_ms = first ? Math.max(first.at_ms, firstPaint_ms ?? 0) : shown_ms;
  return {
    width, axis_ms: axis, top: 2, bottom,
    wait: x(readable_ms),
    ticks: tallest(arrivals, x).map(([place, words]) => `M${place + 1} ${bottom}V${round(bottom - tickHeight(words) * (bottom - 2))}`).join(""),
    end: ended ? x(shown_ms) : null,
    reading: first ? readingLine(arrivals, readable_ms, axis, x, width) : null,
    marks: marksFor(axis, width).map((ms) => ({ x: x(ms), ms })),
  };
}

/** @param {number} words @returns {number} share of the full height */
export function tickHeight(words) {
  return Math.min(1, 0.3 + (0.7 * Math.log2(1 + words)) / Math.log2(1 + FULL_WORDS));
}

/** @param {number} shown_ms @returns {number} the axis: a little longer than what is shown */
export function axisFor(shown_ms) {
  return Math.max(500, shown_ms * 1.02);
}

// Private

/**
 * Where arrivals stand closer than a screen can show, the tallest stands for all: the drawing is never
 * larger than its width, however long the reply.
 * @param {Arrival[]} arrivals
 * @param {(ms: number) => number} x
 * @returns {[number, number][]} place and words
 */
function tallest(arrivals, x) {
  /** @type {[number, number][]} */
  const ticks = [];
  for (const { at_ms, words } of arrivals) {
    const place = x(at_ms);
    const last = ticks.at(-1);
    if (last && place - last[0] < CLOSEST_PX) last[1] = Math.max(last[1], words);
    else ticks.push([place, words]);
  }
  return ticks;
}

/**
 * @param {Arrival[]} arrivals
 * @param {number} from_ms
 * @param {number} axis
 * @param {(ms: number) => number} x
 * @param {number} width
 */
function readingLine(arrivals, from_ms, axis, x, width) {
  const words = arrivals.reduce((sum, arrival) => sum + arrival.words, 0);
  const done_ms = from_ms + readingTime_ms(words);
  return { from: x(from_ms), to: done_ms > axis ? width : x(done_ms) };
}

/** @param {number} axis_ms @param {number} width */
function marksFor(axis_ms, width) {
  const room = Math.max(2, Math.floor(width / PX_PER_LABEL));
  const step = STEPS_MS.find((candidate) => axis_ms / candidate <= room) ?? /** @type {number} */ (STEPS_MS.at(-1));
  return Array.from({ length: Math.floor(axis_ms / step) + 1 }, (_, i) => i * step);
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 10) / 10;
}
