/**
 * One playing of a stimulus, as it comes over the room's socket: frames become the race's lanes, so that
 * a room draws with the same pieces as the race. A lane that begins again (after a reconnect) replaces
 * what was there. Times are milliseconds since the stimulus began, on the server's clock. Pure.
 *
 * @typedef {import("./room_frames.js").LaneId} LaneId
 * @typedef {import("../race/lane.js").Lane} Lane
 */

import { fail, hear, newLane } from "../race/lane.js";

/** Text this much older than its coming was not seen as it came: its paint says nothing about the stream. */
const STALE_MS = 1500;

export class Playing {
  /** @type {Record<LaneId, Lane>} */
  lanes;

  /** @param {string} id of the stimulus @param {Partial<Record<LaneId, import("./room_frames.js").LanePlan>> | null} plans */
  constructor(id, plans) {
    this.id = id;
    this.plans = plans;
    this.lanes = { a: this.#fresh("a"), b: this.#fresh("b") };
  }

  /**
   * @param {import("./room_frames.js").Text} text
   * @param {number} since_ms now; NaN where this clock is not set yet
   */
  hear({ stimulus, lane: id, seq, pieces, text, tokens, t, end }, since_ms) {
    if (stimulus !== this.id) return;
    if (seq === pieces && this.lanes[id].arrivals.length > 0) this.lanes[id] = this.#fresh(id);
    const lane = this.lanes[id];
    const came_ms = Number.isNaN(since_ms) ? t : Math.max(0, since_ms);
    const stale = came_ms - t > STALE_MS;
    const at_ms = stale ? t : came_ms;
    if (stale && lane.arrivals.length === 0) lane.late = true;
    if (text) hear(lane, { type: "delta", reply: stimulus, seq, text, tokens, t }, at_ms);
    if (end === "failed") fail(lane, { code: "failed", message: "" }, at_ms);
    else if (end) hear(lane, doneWith(stimulus, seq, end, t), at_ms);
  }

  /** @returns {boolean} nothing more comes */
  get isOver() {
    return this.lanes.a.ended_ms !== null && this.lanes.b.ended_ms !== null;
  }

  // Private

  /** @param {LaneId} id @returns {Lane} */
  #fresh(id) {
    return newLane({ delivery: this.plans?.[id]?.pace ?? "token", wire: "socket", link: "direct" });
  }
}

// Private

/** @param {string} reply @param {number} seq @param {string} finish_reason @param {number} t @returns {import("../events.js").Done} */
function doneWith(reply, seq, finish_reason, t) {
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, cached_tokens: 0 };
  const timings = { queue_ms: null, prefill_ms: null, first_token_ms: null, decode_ms: null, paused_ms: 0, total_ms: t };
  return { type: "done", reply, seq, finish_reason, usage, timings, t };
}
