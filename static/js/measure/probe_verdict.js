/**
 * Does the network stream? The server sent ticks at an even pace; how they arrived tells what stands
 * between. Pure: from times to a verdict.
 *
 * @typedef {{ sent_ms: number, at_ms: number }} Tick `sent_ms` on the server's clock from its first
 *   moment; `at_ms` in the browser, from the request
 * @typedef {"streams" | "clumps" | "buffers" | "cut"} Verdict
 * @typedef {{ verdict: Verdict, arrived: number, groups: number, late_ms: number, spread: number }} Finding
 *   `groups`: moments at which something arrived; `late_ms`: how much later than the quickest the
 *   latest tick came; `spread`: time the arrivals took, as a share of what the sending took
 */

/** Arrivals closer than this share of the sending's pace came together. */
const TOGETHER = 0.35;
/** All of it in less than this share of its time: somebody waited for the end. */
const AT_ONCE = 0.3;
/** Of ten ticks so many may share their moment with another, by chance. */
const ODD = 0.7;

/** @param {Tick[]} ticks as they came @param {number} expected @param {number} every_ms @returns {Finding} */
export function judge(ticks, expected, every_ms) {
  const groups = ticks.filter(({ at_ms }, i) => i === 0 || at_ms - /** @type {Tick} */ (ticks[i - 1]).at_ms > every_ms * TOGETHER).length;
  const ways = ticks.map(({ sent_ms, at_ms }) => at_ms - sent_ms);
  const late_ms = ways.length ? Math.max(...ways) - Math.min(...ways) : 0;
  const spread = spanOf(ticks.map(({ at_ms }) => at_ms)) / Math.max(1, spanOf(ticks.map(({ sent_ms }) => sent_ms)));
  /** @param {Verdict} verdict @returns {Finding} */
  const found = (verdict) => ({ verdict, arrived: ticks.length, groups, late_ms, spread });
  if (ticks.length < expected) return found("cut");
  if (spread < AT_ONCE) return found("buffers");
  return found(groups < expected * ODD ? "clumps" : "streams");
}

// Private

/** @param {number[]} times in order */
function spanOf(times) {
  return times.length ? /** @type {number} */ (times.at(-1)) - /** @type {number} */ (times[0]) : 0;
}
