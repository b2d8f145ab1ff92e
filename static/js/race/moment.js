/**
 * What there is to see of a race at a moment: a function of the lanes' timelines and the playhead, and
 * of nothing else. Live or recorded makes no difference here. Pure.
 *
 * @typedef {import("./lane.js").Seen} Seen
 * @typedef {{ seen: Seen[], readable: number, strips: import("./strips_shape.js").StripLane[] }} Moment
 *   `readable`: words that somebody has read by now in the lane that is furthest
 */

import { wordsReadable } from "../measure/metrics.js";
import { firstWordOf, lastWordOf, see } from "./lane.js";
import { nameOf } from "./lane_words.js";

/** @param {import("./race.js").Race} race @param {number | null} at_ms null: not begun @returns {Moment} */
export function momentOf({ lanes, experiment }, at_ms) {
  const now_ms = at_ms ?? -1;
  const seen = lanes.map((lane) => see(lane, now_ms));
  return {
    seen,
    readable: Math.max(...lanes.map(({ arrivals }) => wordsReadable(arrivals, now_ms, experiment.wordsPerMinute))),
    strips: lanes.map((lane, i) => stripOf(lane, /** @type {Seen} */ (seen[i]), now_ms)),
  };
}

// Private

/** @param {import("./lane.js").Lane} lane @param {Seen} seen @param {number} now_ms */
function stripOf(lane, seen, now_ms) {
  const first_ms = seen.first ? firstWordOf(lane) : null;
  return {
    name: nameOf(lane), first_ms, ended: seen.ended,
    arrivals: lane.arrivals.slice(0, seen.arrivals),
    now_ms: seen.ended ? (lastWordOf(lane) ?? Number(lane.ended_ms)) : Math.max(0, now_ms),
  };
}
