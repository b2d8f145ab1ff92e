/**
 * Where the time to the first word went, stage by stage, from the click to the paint. The browser's
 * stages are on its own clock and the server's on the server's; between them lies the network, which
 * is known only as well as the two clocks could be compared. What no stage explains is shown as what
 * it is, never spread over the others. Pure.
 *
 * @typedef {"page" | "up" | "queue" | "prefill" | "hold" | "rest" | "down" | "smooth" | "paint"} StageName
 * @typedef {{ name: StageName, from_ms: number, ms: number, error_ms: number }} Stage
 *   `error_ms` 0: both ends are on one clock
 * @typedef {object} Trace stamps of one reply, milliseconds after the click where not said otherwise
 * @property {number} sent_ms the question was handed to the network
 * @property {import("./clock.js").Placed | null} clock of the server, on the browser's
 * @property {{ at_ms: number, released_t: number } | null} first piece of text: heard here; let go
 *   there, on the server's clock
 * @typedef {{ stages: Stage[], total_ms: number, error_ms: number }} Waterfall
 */

/**
 * @param {{ trace?: Trace | null, firstPaint_ms: number | null, smoothing?: { first_ms: number } | null,
 *   timings: import("../events.js").Timings | null }} reply
 * @returns {Waterfall | null} null where a stamp is missing
 */
export function waterfallOf({ trace, firstPaint_ms, timings, smoothing }) {
  const clock = trace?.clock;
  const made_ms = timings?.first_token_ms ?? null;
  if (!trace || !clock || !trace.first || firstPaint_ms === null || made_ms === null) return null;
  const queue_ms = timings?.queue_ms ?? 0;
  const smooth_ms = smoothing?.first_ms ?? 0;
  const back_ms = clock.way_ms / 2;
  const hold_ms = Math.max(0, trace.first.released_t - made_ms);
  const rest_ms = trace.first.at_ms - (clock.zero_ms + made_ms + hold_ms) - back_ms;
  /** @type {[StageName, number, number][]} */
  const parts = [
    ["page", trace.sent_ms, 0],
    ["up", clock.zero_ms - trace.sent_ms, clock.error_ms],
    ["queue", queue_ms, 0],
    ["prefill", made_ms - queue_ms, 0],
    ["hold", hold_ms, 0],
    ["rest", rest_ms, clock.error_ms],
    ["down", back_ms, clock.error_ms],
    ["smooth", smooth_ms, 0],
    ["paint", firstPaint_ms - trace.first.at_ms - smooth_ms, 0],
  ];
  const asked = parts.filter(([name]) => name !== "smooth" || smoothing);
  return { stages: inARow(asked), total_ms: firstPaint_ms, error_ms: clock.error_ms };
}

// Private

/** @param {[StageName, number, number][]} parts @returns {Stage[]} each begins where the one before ends */
function inARow(parts) {
  let from_ms = 0;
  return parts.map(([name, ms, error_ms]) => {
    const stage = { name, from_ms, ms, error_ms };
    from_ms += ms;
    return stage;
  });
}
