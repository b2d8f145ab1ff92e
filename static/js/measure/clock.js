/**
 * Where the server's clock stands on the browser's. Each question with an answer places it: the server
 * stamped the question somewhere between the sending and the hearing, so the middle is wrong by at
 * most half of the time on the way. The quickest exchange knows best. Pure.
 *
 * @typedef {{ sent_ms: number, in_ms: number, out_ms: number, got_ms: number }} Exchanged
 *   sent and got on the browser's clock; in (the server had it) and out (it answered) on the server's
 * @typedef {{ zero_ms: number, error_ms: number, way_ms: number }} Placed
 *   `zero_ms`: when the server's clock was 0, on the browser's; `way_ms`: there and back
 */

/** @param {Exchanged} exchanged @returns {Placed} */
export function placeClock({ sent_ms, in_ms, out_ms, got_ms }) {
  // A clock cannot have run backwards; stamps are rounded, so a quick way may come out below zero.
  const way_ms = Math.max(0, got_ms - sent_ms - (out_ms - in_ms));
  return { zero_ms: (sent_ms - in_ms + got_ms - out_ms) / 2, error_ms: way_ms / 2, way_ms };
}

/** @param {Placed | null} before @param {Placed} now @returns {Placed} the one with the smaller error */
export function betterPlaced(before, now) {
  return before !== null && before.error_ms <= now.error_ms ? before : now;
}
