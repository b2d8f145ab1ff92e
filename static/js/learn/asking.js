/**
 * Asking this machine for numbers: short real replies over NDJSON, one after another, each stamped on
 * the browser's clock from the request to the first and the last piece. It refuses to know the page.
 *
 * @typedef {{ first_ms: number, last_ms: number, gap_ms: number | null, tokens: number, cached: number,
 *   queue_ms: number, prefill_ms: number }} Measured
 */

import { median } from "../measure/numbers.js";
import { LineParser } from "../stream/ndjson_parser.js";

/** A long prompt: enough to see, little enough for a laptop's patience. */
const FILLER = "The ship left the harbour in the early morning, and nobody on board knew yet what the day would bring. ";

/** @param {number} repeats @param {string} salt so that nothing of it has been read before @returns {string} */
export const longPrompt = (repeats, salt) => `${salt} ${FILLER.repeat(repeats)}\n\nIn one sentence: what left the harbour?`;

/**
 * @param {string} prompt
 * @param {number} max_tokens
 * @param {string} [address]
 * @returns {Promise<Measured>} rejects with the server's own sentence
 */
export async function ask(prompt, max_tokens, address = "/api/replies") {
  const sent_ms = performance.now();
  const response = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/x-ndjson" },
    body: JSON.stringify({ messages: [{ role: "user", content: prompt }], max_tokens, temperature: 0, ignore_eos: true }),
  });
  if (!response.ok || !response.body) throw new Error((await response.json())?.error?.message ?? String(response.status));
  /** @type {number[]} */
  const arrivals = [];
  /** @type {any} */
  let done = null;
  for await (const event of eventsOf(response.body)) {
    if (event.type === "delta") arrivals.push(performance.now() - sent_ms);
    if (event.type === "error") throw new Error(event.message);
    if (event.type === "done") done = event;
  }
  if (!done || arrivals.length === 0) throw new Error("the answer broke off");
  const gaps = arrivals.slice(1).map((at_ms, i) => at_ms - /** @type {number} */ (arrivals[i]));
  return {
    first_ms: /** @type {number} */ (arrivals[0]), last_ms: /** @type {number} */ (arrivals.at(-1)), gap_ms: median(gaps),
    tokens: done.usage.completion_tokens, cached: done.usage.cached_tokens,
    queue_ms: done.timings.queue_ms ?? 0, prefill_ms: done.timings.prefill_ms ?? 0,
  };
}

/** The middle one of several, number by number. @param {Measured[]} runs */
export function middleOf(runs) {
  const of = (/** @type {(run: Measured) => number | null} */ pick) => median(runs.map(pick).filter((value) => value !== null));
  return { first_ms: of((run) => run.first_ms), gap_ms: of((run) => run.gap_ms), last_ms: of((run) => run.last_ms), n: runs.length };
}

// Private

/** @param {ReadableStream<Uint8Array>} body @returns {AsyncGenerator<any>} */
async function* eventsOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const lines = new LineParser();
  for (;;) {
    const { done, value } = await reader.read();
    for (const line of lines.push(decoder.decode(value, { stream: !done }))) yield JSON.parse(line);
    if (done) break;
  }
  for (const line of lines.end()) yield JSON.parse(line);
}
