/**
 * The numbers of one timeline, the same as app/timeline computes and against the same golden file
 * (tests/golden/metrics.json). Pure arithmetic, each formula in one place; null: there is no such
 * number, which is not the same as 0.
 *
 * Notation: the request is sent at 0; tokens i = 1…n reach the reader at a_i; all tokens of one arrival
 * have its time. Percentiles are interpolated linearly between the sorted values.
 *
 * @typedef {{ at_ms: number, tokens: number, words: number }} Arrival
 * @typedef {{ ttft_target_ms: number, tokens_per_second: number, first_deadline_ms: number, deadline_ms: number }} Parameters
 * @typedef {{ p50_ms: number | null, p95_ms: number | null, max_ms: number | null }} Gaps
 * @typedef {{ ttft_ms: number | null, last_ms: number | null, tpot_ms: number | null, gaps_per_chunk: Gaps,
 *   gaps_per_token: Gaps, tokens_per_second: number | null, qoe: number | null, fluidity: number | null,
 *   idle_ms: number | null }} Metrics
 */

/** A reader of 238 words a minute takes 5.2 tokens a second; nobody minds the first second. @type {Parameters} */
export const USUAL_PARAMETERS = { ttft_target_ms: 1000, tokens_per_second: 5.2, first_deadline_ms: 1000, deadline_ms: 100 };

/** Times that should be equal and are not by the last bit of a float count as equal. */
const EQUAL_MS = 1e-6;

/** @param {Arrival[]} arrivals in order @param {Parameters} [parameters] @returns {Metrics} */
export function metricsOf(arrivals, parameters = USUAL_PARAMETERS) {
  const chunks = arrivals.map(({ at_ms }) => at_ms);
  const tokens = arrivals.flatMap(({ at_ms, tokens: count }) => Array.from({ length: count }, () => at_ms));
  return {
    ttft_ms: chunks[0] ?? null,
    last_ms: chunks.at(-1) ?? null,
    tpot_ms: tpot(tokens),
    gaps_per_chunk: gapsOf(chunks),
    gaps_per_token: gapsOf(tokens),
    tokens_per_second: rate(tokens),
    qoe: qoe(tokens, parameters),
    fluidity: fluidity(tokens, parameters),
    idle_ms: idle(tokens, parameters),
  };
}

/** Linear interpolation between the two nearest ranks. @param {number[]} values @param {number} share from 0 to 1 */
export function percentile(values, share) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const rank = share * (sorted.length - 1);
  const below = /** @type {number} */ (sorted[Math.floor(rank)]);
  const above = /** @type {number} */ (sorted[Math.ceil(rank)]);
  return below + (above - below) * (rank - Math.floor(rank));
}

/** Streaming cost ratio: last word streamed / last word all at once. @param {number | null} streamed_ms @param {number | null} whole_ms */
export function costOfStreaming(streamed_ms, whole_ms) {
  return streamed_ms === null || !whole_ms ? null : streamed_ms / whole_ms;
}

/**
 * Whole words that somebody has read by now who reads at a steady rate, never before a word is there;
 * the golden file calls it reading.
 * @param {{ at_ms: number, words: number }[]} arrivals in order
 * @param {number} now_ms
 * @param {number} wordsPerMinute
 */
export function wordsReadable(arrivals, now_ms, wordsPerMinute) {
  const step_ms = 60_000 / wordsPerMinute;
  let free_ms = 0;
  let read = 0;
  for (const { at_ms, words } of arrivals) {
    const begins_ms = Math.max(free_ms, at_ms);
    if (begins_ms > now_ms) break;
    read += Math.min(words, Math.floor((now_ms - begins_ms + EQUAL_MS) / step_ms));
    free_ms = begins_ms + words * step_ms;
  }
  return read;
}

// Private

/** (a_n - a_1) / (n - 1). @param {number[]} at */
function tpot(at) {
  return at.length < 2 ? null : span(at) / (at.length - 1);
}

/** (n - 1) / (a_n - a_1), a second. @param {number[]} at */
function rate(at) {
  return at.length < 2 || span(at) === 0 ? null : ((at.length - 1) / span(at)) * 1000;
}

/** @param {number[]} at @returns {Gaps} */
function gapsOf(at) {
  const gaps = at.slice(1).map((time, i) => time - /** @type {number} */ (at[i]));
  return { p50_ms: percentile(gaps, 0.5), p95_ms: percentile(gaps, 0.95), max_ms: percentile(gaps, 1) };
}

/**
 * Andes v2: ideal d_i = target + (i - 1) / r; consumption c_1 = max(a_1, d_1), c_i = max(a_i, c_(i-1) + 1 / r);
 * 1 - sum(c_i - d_i) / sum(c_i).
 * @param {number[]} at @param {Parameters} parameters
 */
function qoe(at, { ttft_target_ms, tokens_per_second }) {
  if (at.length === 0) return null;
  const step_ms = 1000 / tokens_per_second;
  let consumed_ms = -Infinity;
  let delay_ms = 0;
  let whole_ms = 0;
  at.forEach((time, i) => {
    const ideal_ms = ttft_target_ms + i * step_ms;
    consumed_ms = i === 0 ? Math.max(time, ideal_ms) : Math.max(time, consumed_ms + step_ms);
    delay_ms += consumed_ms - ideal_ms;
    whole_ms += consumed_ms;
  });
  return whole_ms === 0 ? 1 : 1 - delay_ms / whole_ms;
}

/**
 * Etalon's fluidity index as its code and paper count it: every missed deadline, not every late token.
 * Time in hand is kept; a miss uses it up.
 * @param {number[]} at @param {Parameters} parameters
 */
function fluidity(at, { first_deadline_ms, deadline_ms }) {
  if (at.length === 0) return null;
  let slack_ms = 0;
  let met = 0;
  let missed = 0;
  at.forEach((time, i) => {
    const took_ms = time - (at[i - 1] ?? 0);
    const late_ms = took_ms - slack_ms - (i === 0 ? first_deadline_ms : deadline_ms);
    if (late_ms <= EQUAL_MS) {
      slack_ms = -late_ms;
      met += 1;
    } else {
      missed += Math.floor((late_ms + EQUAL_MS) / deadline_ms) + 1;
      slack_ms = 0;
    }
  });
  return 1 - missed / (met + missed);
}

/** The longest that a reader at r tokens a second, who began at the first one, had nothing to read.
 * @param {number[]} at @param {Parameters} parameters */
function idle(at, { tokens_per_second }) {
  if (at.length === 0) return null;
  const first_ms = /** @type {number} */ (at[0]);
  const waits = at.map((time, i) => time - first_ms - (i * 1000) / tokens_per_second);
  return Math.max(0, ...waits);
}

/** @param {number[]} at */
const span = (at) => /** @type {number} */ (at.at(-1)) - /** @type {number} */ (at[0]);
