/**
 * How long a vote that closes by itself is still open: a line that counts down, the same on every page. Where
 * the clock is not known yet, or nothing closes, it says nothing.
 */

import { say } from "../words.js";
import { setText } from "./parts.js";

const EVERY_MS = 250;

/**
 * @param {HTMLElement} line
 * @param {import("../rooms/room_clock.js").RoomClock} clock
 */
export function mountClosing(line, clock) {
  /** @type {number | null} */
  let closes_ms = null;
  const draw = () => {
    const left_ms = closes_ms === null ? NaN : clock.here_ms(closes_ms) - clock.now_ms();
    setText(line, Number.isNaN(left_ms) ? "" : say("closesIn", { count: Math.max(0, Math.ceil(left_ms / 1000)) }));
  };
  setInterval(draw, EVERY_MS);
  return {
    /** @param {import("../rooms/room_frames.js").Room} room */
    show({ phase, round }) {
      closes_ms = phase === "vote" ? (round?.closes_ms ?? null) : null;
      draw();
    },
  };
}
