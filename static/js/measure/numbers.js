/**
 * The numbers under a reply, from its arrivals: pure arithmetic, each formula in one place.
 *
 * All times are milliseconds after the click on one clock (performance.now). Only the rate uses the
 * server's clock, because only the server sees when a token is made. null: there is no such number
 * (a reply of one arrival has no gaps), which is not the same as 0.
 *
 * @typedef {{ at_ms: number, words: number, tokens: number }} Arrival
 * @typedef {{ first_ms: number | null, gapMedian_ms: number | null, gapLongest_ms: number | null,
 *   last_ms: number | null, tokens: number | null, tokensPerSecond: number | null }} Numbers
 */

/**
 * @param {{ arrivals: Arrival[], firstPaint_ms: number | null, lastPaint_ms: number | null,
 *   tokens: number | null, decode_ms: number | null }} reply
 * @returns {Numbers}
 */
export function numbersOf({ arrivals, firstPaint_ms, lastPaint_ms, tokens, decode_ms }) {
  const gaps = gapsBetween(arrivals);
  return {
    first_ms: firstPaint_ms,
    gapMedian_ms: median(gaps),
    gapLongest_ms: gaps.length ? Math.max(...gaps) : null,
    last_ms: lastPaint_ms,
    tokens,
    tokensPerSecond: tokens !== null && tokens > 1 && decode_ms ? ((tokens - 1) / decode_ms) * 1000 : null,
  };
}

/** @param {Arrival[]} arrivals @returns {number[]} n arrivals have n - 1 gaps */
export function gapsBetween(arrivals) {
  return arrivals.slice(1).map((arrival, i) => arrival.at_ms - /** @type {Arrival} */ (arrivals[i]).at_ms);
}

/** @param {number[]} values @returns {number | null} the middle one; the mean of the two middle ones */
export function median(values) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = /** @type {number} */ (sorted[middle]);
  return sorted.length % 2 ? upper : (upper + /** @type {number} */ (sorted[middle - 1])) / 2;
}
