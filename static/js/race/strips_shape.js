/**
 * The strips of all lanes as geometry, on one axis of time: per lane a hatched box while there was
 * nothing to read, a tick for every arrival as tall as the words it brought, an end cap, and the line
 * of somebody reading along. The page draws it as SVG and the picture file on a canvas. Pure.
 *
 * @typedef {{ name: string, arrivals: { shown_ms: number, words: number }[], first_ms: number | null,
 *   now_ms: number, ended: boolean }} StripLane `arrivals`: those seen so far
 * @typedef {{ name: string, nameY: number, top: number, bottom: number, wait: number, ticks: string, single: boolean,
 *   end: number | null, reading: { from: number, to: number } | null }} Row
 * @typedef {{ width: number, height: number, left: number, rows: Row[], marks: { x: number, ms: number }[],
 *   moment: number | null }} StripsShape all in pixels from the left upper corner
 */

import { tickHeight } from "../measure/strip_shape.js";

const NICE_S = [0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 180, 240, 300, 600, 1200, 1800];
const MARKS_MS = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000];
/** Room for the end cap on the right. */
const CAP_PX = 8;

/** @param {number} shown_ms @returns {number} an axis that need not change with every arrival */
export function axisOf(shown_ms) {
  return (NICE_S.find((seconds) => seconds * 1000 >= shown_ms * 1.01) ?? Math.ceil(shown_ms / 60_000) * 60) * 1000;
}

/**
 * @param {StripLane[]} lanes
 * @param {{ width: number, text: number, bar: number, axis_ms: number, moment_ms: number | null, wordsPerMinute: number }} room
 *   `text` is the size of the letters, `bar` the height of a strip, `moment_ms` the playhead where it is in the past
 * @returns {StripsShape}
 */
export function stripsShape(lanes, { width, text, bar, axis_ms, moment_ms, wordsPerMinute }) {
  const isNarrow = width < text * 34;
  const longest = Math.max(...lanes.map(({ name }) => name.length));
  const left = isNarrow ? 2 : Math.min(width * 0.26, Math.max(text * 6, longest * text * 0.56 + text));
  const inner = width - left - CAP_PX;
  const x = (/** @type {number} */ ms) => round(left + (Math.min(ms, axis_ms) / axis_ms) * inner);
  const head = isNarrow ? text * 1.35 : 0;
  const step = head + bar + text * 0.75;
  const rows = lanes.map((lane, i) => row(lane, { top: 2 + i * step + head, bar, x, text, isNarrow, wordsPerMinute }));
  const height = Math.ceil(2 + lanes.length * step + text * 1.2);
  const marks = marksOf(axis_ms, inner, text).map((ms) => ({ x: x(ms), ms }));
  return { width, height, left, rows, marks, moment: moment_ms === null ? null : x(moment_ms) };
}

// Private

/**
 * @param {StripLane} lane
 * @param {{ top: number, bar: number, x: (ms: number) => number, text: number, isNarrow: boolean, wordsPerMinute: number }} place
 * @returns {Row}
 */
function row({ name, arrivals, first_ms, now_ms, ended }, { top, bar, x, text, isNarrow, wordsPerMinute }) {
  const bottom = top + bar;
  const first = arrivals[0];
  const readable_ms = Math.max(first?.shown_ms ?? 0, first_ms ?? 0);
  return {
    name, top, bottom, nameY: isNarrow ? top - text * 0.4 : top + bar / 2 + text * 0.35,
    wait: x(first_ms ?? now_ms),
    ticks: arrivals.map(({ shown_ms, words: count }) => `M${x(shown_ms) + 1} ${bottom}V${round(bottom - tickHeight(count) * bar)}`).join(""),
    single: arrivals.length === 1,
    end: ended ? x(Math.max(now_ms, arrivals.at(-1)?.shown_ms ?? 0)) : null,
    reading: first ? { from: x(readable_ms), to: x(readUntil(arrivals, readable_ms, wordsPerMinute)) } : null,
  };
}

/**
 * When somebody who reads along has read it all: never ahead of the text.
 * @param {StripLane["arrivals"]} arrivals @param {number} from_ms @param {number} wordsPerMinute
 */
function readUntil(arrivals, from_ms, wordsPerMinute) {
  return arrivals.reduce((free_ms, { shown_ms, words }) => Math.max(free_ms, shown_ms) + (words / wordsPerMinute) * 60_000, from_ms);
}

/** @param {number} axis_ms @param {number} inner @param {number} text */
function marksOf(axis_ms, inner, text) {
  const most = Math.max(2, Math.floor(inner / (text * 4.5)));
  const step = MARKS_MS.find((candidate) => axis_ms / candidate <= most) ?? /** @type {number} */ (MARKS_MS.at(-1));
  return Array.from({ length: Math.floor(axis_ms / step) + 1 }, (_, i) => i * step);
}

/** @param {number} value */
const round = (value) => Math.round(value * 10) / 10;
