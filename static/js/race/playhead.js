/**
 * Where in time the audience looks: a clock that can run slowly, stop, step and be dragged. It never
 * passes the edge, which is "now" in a live race and the end in a recorded one; that is the only
 * difference between the two. What was measured never depends on it. Pure: time is handed in.
 */

/** Keys 1 to 9, slow to fast. */
export const SPEEDS = [0.1, 0.2, 0.35, 0.5, 0.75, 1, 1.5, 2, 4];
/** So close to the edge of a live race is at the edge. */
const CLOSE_MS = 40;

export class Playhead {
  at_ms = 0;
  speed = 1;
  playing = false;
  /** It goes with the edge, as long as it is neither stopped nor slowed down. */
  follows = false;

  /** @param {number} passed_ms since the last call @param {number} edge_ms */
  advance(passed_ms, edge_ms) {
    this.follows &&= this.playing && this.speed >= 1;
    if (!this.playing) return;
    const at_ms = this.at_ms + passed_ms * this.speed;
    if (this.speed >= 1 && edge_ms - at_ms < CLOSE_MS) this.follows = true;
    this.at_ms = this.follows ? edge_ms : Math.min(edge_ms, at_ms);
  }

  /** Play from the beginning, at the same speed. @param {boolean} follows the edge, at the start of a live race */
  restart(follows = false) {
    this.at_ms = 0;
    this.playing = true;
    this.follows = follows;
  }

  /** @param {number} at_ms @param {number} edge_ms */
  seek(at_ms, edge_ms) {
    this.at_ms = Math.max(0, Math.min(edge_ms, at_ms));
    this.follows = false;
  }

  /** @param {number} edge_ms @returns {boolean} the audience looks at the past */
  isBehind(edge_ms) {
    return !this.follows && edge_ms - this.at_ms >= CLOSE_MS;
  }
}

/**
 * What the controls and the keys do to it.
 * @param {Playhead} playhead
 * @param {import("./keys.js").Action} action
 * @param {{ arrivals: { shown_ms: number }[] }[]} lanes
 * @param {number} edge_ms
 * @param {boolean} over all has been seen
 * @returns {boolean} whether it has left the edge: a live race is not looked at as it comes any more
 */
export function move(playhead, action, lanes, edge_ms, over) {
  if (typeof action === "object") {
    playhead.speed = action.speed;
    return action.speed < 1;
  }
  if (action === "replay" || (action === "pause" && over)) {
    playhead.restart();
  } else if (action === "pause") {
    playhead.playing = !playhead.playing;
    playhead.follows = false;
    return !playhead.playing;
  } else if (action === "back" || action === "on") {
    const to_ms = stepFrom(lanes, playhead.at_ms, action === "on" ? 1 : -1);
    playhead.playing = false;
    playhead.seek(to_ms ?? (action === "on" ? edge_ms : 0), edge_ms);
  } else return false;
  return true;
}

/**
 * The next or the previous arrival of text in any lane.
 * @param {{ arrivals: { shown_ms: number }[] }[]} lanes
 * @param {number} at_ms
 * @param {1 | -1} direction
 * @returns {number | null} null where there is none
 */
export function stepFrom(lanes, at_ms, direction) {
  const times = lanes.flatMap(({ arrivals }) => arrivals.map(({ shown_ms }) => shown_ms));
  const ahead = times.filter((time) => (direction > 0 ? time > at_ms : time < at_ms));
  if (ahead.length === 0) return null;
  return ahead.reduce((best, time) => (direction > 0 ? Math.min(best, time) : Math.max(best, time)));
}
