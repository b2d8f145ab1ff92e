/**
 * Asking this machine for numbers: short real replies, one after another, on the browser's clock: from
 * the request until the first word could be seen. It refuses to know where the words are shown.
 *
 * @typedef {{ first_ms: number, gap_ms: number | null, cached: number, queue_ms: number, prefill_ms: number }} Measured
 *   `gap_ms`: the middle one of its gaps between arrivals
 */

import { median } from "../measure/numbers.js";
import { afterPaint } from "../measure/paint.js";
import { Failed } from "../stream/failure.js";
import { bringByNdjson } from "../stream/ndjson_wire.js";

/** A long prompt: enough to see, little enough for a laptop's patience. */
const FILLER = "The ship left the harbour in the early morning, and nobody on board knew yet what the day would bring. ";

/** @param {number} repeats @param {string} salt so that nothing of it has been read before @returns {string} */
export const longPrompt = (repeats, salt) => `${salt} ${FILLER.repeat(repeats)}\n\nIn one sentence: what left the harbour?`;

/**
 * @param {string} page the page's own address
 * @param {string} prompt
 * @param {number} max_tokens
 * @param {(text: string) => void} show puts the answer so far on the page
 * @returns {Promise<Measured>} rejects with the server's own sentence
 */
export async function ask(page, prompt, max_tokens, show) {
  const sent_ms = performance.now();
  let text = "";
  /** @type {number[]} */
  const arrivals = [];
  /** @type {Promise<number> | null} */
  let seen = null;
  /** @type {import("../events.js").Done | null} */
  let done = null;
  /** @type {import("../events.js").Failure | null} */
  let failed = null;
  const body = { messages: [{ role: "user", content: prompt }], max_tokens, temperature: 0, ignore_eos: true };
  await bringByNdjson(page, body, (event) => {
    if (event.type === "done") done = event;
    if (event.type === "error") failed = event;
    if (event.type !== "delta") return;
    arrivals.push(performance.now());
    text += event.text;
    show(text);
    seen ??= new Promise((resolve) => afterPaint(resolve));
  }, new AbortController().signal);
  const ended = /** @type {import("../events.js").Done | null} */ (done);
  const seen_ms = await /** @type {Promise<number> | null} */ (seen);
  if (!ended || seen_ms === null) throw new Failed(failed ?? { code: "connection_lost", message: "the answer broke off" });
  return {
    first_ms: seen_ms - sent_ms,
    gap_ms: median(arrivals.slice(1).map((at_ms, i) => at_ms - /** @type {number} */ (arrivals[i]))),
    cached: ended.usage.cached_tokens, queue_ms: ended.timings.queue_ms ?? 0, prefill_ms: ended.timings.prefill_ms ?? 0,
  };
}

/** The middle one of several, number by number. @param {Measured[]} runs */
export function middleOf(runs) {
  const of = (/** @type {(run: Measured) => number | null} */ pick) => median(runs.map(pick).filter((value) => value !== null));
  return { first_ms: of((run) => run.first_ms), gap_ms: of((run) => run.gap_ms) };
}
