/**
 * One lane's timeline: what arrived in this browser, and when, in milliseconds since the click. Live
 * it grows, recorded it is all there; what a reader sees of it is a pure function of a moment, so that
 * live and recorded races are the same thing. Only this module changes a lane. It refuses to know
 * wires, clocks and elements: times are handed in.
 *
 * @typedef {import("../events.js").ServerEvent} ServerEvent
 * @typedef {{ at_ms: number, seq: number, text: string, tokens: number, words: number, shown_ms: number }} Arrival
 *   `shown_ms` is later than `at_ms` only in a smoothed lane
 * @typedef {object} Lane
 * @property {import("./lane_settings.js").LaneSettings} settings
 * @property {string | null} reply the server's name for what this lane reads
 * @property {{ name: string, device?: string } | null} model
 * @property {Arrival[]} arrivals
 * @property {(ServerEvent & { at_ms: number })[]} events as they came, deltas included
 * @property {number | null} firstOut_ms the server's time of letting go the first text, on its own clock
 * @property {number | null} firstPaint_ms
 * @property {number | null} lastPaint_ms
 * @property {number | null} ended_ms nothing more was to come
 * @property {import("../events.js").Done | null} done null where the wire cannot say how it ended
 * @property {{ code: string, message: string } | null} error
 * @property {boolean} hidden the tab was hidden meanwhile
 * @property {boolean} late it was looked at in slow motion, so no paint could be clocked
 * @property {boolean} stopped somebody stopped it, and its wire cannot tell so itself
 * @property {EvenPace | null} smoother
 *
 * @typedef {{ arrivals: number, first: boolean, ended: boolean, clock_ms: number }} Seen
 */

import { countWords } from "../measure/words_read.js";
import { EvenPace } from "../measure/even_pace.js";

/** @param {import("./lane_settings.js").LaneSettings} settings @returns {Lane} */
export function newLane(settings) {
  return {
    settings, reply: null, model: null, arrivals: [], events: [], firstOut_ms: null, firstPaint_ms: null, lastPaint_ms: null, ended_ms: null,
    done: null, error: null, hidden: false, late: false, stopped: false,
    smoother: settings.delivery === "smoothed" ? new EvenPace() : null,
  };
}

/** @param {Lane} lane @param {ServerEvent} event @param {number} at_ms since the click */
export function hear(lane, event, at_ms) {
  if (lane.ended_ms !== null || event.type === "ping" || event.type === "pong") return;
  if (event.type !== "delta" && event.type !== "error" && isKnown(lane, event)) return;
  if (event.type === "delta" && event.seq <= (lane.arrivals.at(-1)?.seq ?? 0)) return;
  lane.events.push({ ...event, at_ms });
  switch (event.type) {
    case "started":
      lane.model = { name: event.model };
    // falls through
    case "queued":
      lane.reply = event.reply;
      break;
    case "delta":
      arrive(lane, event, at_ms);
      break;
    case "done":
      lane.done = event;
      lane.ended_ms = at_ms;
      break;
    case "error":
      fail(lane, event, at_ms);
      break;
  }
}

/** @param {Lane} lane @param {{ code: string, message: string }} error @param {number} at_ms */
export function fail(lane, { code, message }, at_ms) {
  if (lane.ended_ms !== null) return;
  lane.error = { code, message };
  lane.ended_ms = at_ms;
}

/** The reply has a name before anything is heard of it. @param {Lane} lane @param {string} reply */
export function nameReply(lane, reply) {
  lane.reply ??= reply || null;
}

/** Whoever stops a lane of plain text has to remember it. @param {Lane} lane */
export function stopSilently(lane) {
  lane.stopped = lane.settings.wire === "plain";
}

/** A wire that cannot tell how a reply ended has come to its end. @param {Lane} lane @param {number} at_ms */
export function closeSilently(lane, at_ms) {
  lane.ended_ms ??= at_ms;
}

/** @param {Lane} lane @returns {boolean} it came to its own end, with nothing missing */
export const isWhole = (lane) => lane.ended_ms !== null && lane.error === null && !wasStopped(lane);

/** @param {Lane} lane @returns {boolean} by somebody, before its end */
export const wasStopped = (lane) => lane.stopped || lane.done?.finish_reason === "cancelled";

/**
 * What a reader sees of the lane at a moment. The clock runs until the first word is there, and then
 * shows for ever when that was: at the paint where it was clocked, else at the arrival.
 * @param {Lane} lane
 * @param {number} at_ms
 * @returns {Seen}
 */
export function see(lane, at_ms) {
  const arrivals = countShown(lane, at_ms);
  const end_ms = endOf(lane);
  const first_ms = firstWordOf(lane);
  const first = first_ms !== null && arrivals > 0;
  const ended = end_ms !== null && at_ms >= end_ms;
  return { arrivals, first, ended, clock_ms: first ? first_ms : Math.min(at_ms, end_ms ?? at_ms) };
}

/** @param {Lane} lane @returns {number | null} when the first word could be read */
export function firstWordOf(lane) {
  return lane.arrivals[0] ? (lane.firstPaint_ms ?? lane.arrivals[0].shown_ms) : null;
}

/** @param {Lane} lane @returns {number | null} when the last word could be read */
export function lastWordOf(lane) {
  const last = lane.arrivals.at(-1);
  return last && lane.ended_ms !== null ? (lane.lastPaint_ms ?? last.shown_ms) : null;
}

/** @param {Lane} lane @returns {number | null} when there is nothing more to see */
export function endOf(lane) {
  return lane.ended_ms === null ? null : Math.max(lane.ended_ms, lane.arrivals.at(-1)?.shown_ms ?? 0, lane.lastPaint_ms ?? 0);
}

/** @param {Lane} lane @param {number} [count] of arrivals; all by default */
export function textOf(lane, count = lane.arrivals.length) {
  return lane.arrivals.slice(0, count).map(({ text }) => text).join("");
}

/** Text has come, now or in a recording. @param {Lane} lane @param {Omit<Arrival, "shown_ms">} arrival */
export function addArrival(lane, arrival) {
  const { at_ms } = arrival;
  const shown_ms = lane.smoother ? lane.smoother.due(at_ms) : at_ms;
  lane.arrivals.push({ ...arrival, shown_ms });
}

// Private

/** @param {Lane} lane @param {import("../events.js").Delta} delta @param {number} at_ms */
function arrive(lane, { reply, seq, text, tokens, t, released }, at_ms) {
  lane.reply ??= reply || null;
  lane.firstOut_ms ??= released ?? t;
  addArrival(lane, { at_ms, seq, text, tokens, words: countWords(text) });
}

/** A poller may hear of the beginning again and again. @param {Lane} lane @param {ServerEvent} event */
function isKnown(lane, event) {
  if (event.type === "paused" || event.type === "resumed") return false;
  return lane.events.some(({ type }) => type === event.type);
}

/** @param {Lane} lane @param {number} at_ms @returns {number} by halving: a lane may have a thousand */
function countShown({ arrivals }, at_ms) {
  let low = 0;
  let high = arrivals.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (/** @type {Arrival} */ (arrivals[middle]).shown_ms <= at_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
