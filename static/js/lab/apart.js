/**
 * Real questions, one after another, and where the time to each one's first token went. The parts are
 * the server's own (`done.timings`).
 *
 * @typedef {{ name: string, queue_ms: number, prefill_ms: number, first_ms: number, prompt: number, cached: number }} Apart
 */

import { Failed } from "../stream/failure.js";
import { bringByNdjson } from "../stream/ndjson_wire.js";
import { say } from "../words.js";
import { stopShared } from "./shared_reply.js";

const ANSWER_TOKENS = 8;
/** Long enough to be there while the question behind them is asked. */
const AHEAD_TOKENS = 96;

/** @typedef {import("../events.js").Message} Message */

/**
 * @param {string} page the page's own address
 * @param {string} name @param {Message[]} messages @param {AbortSignal} signal
 * @returns {Promise<Apart & { text: string }>} rejects with the server's own sentence
 */
export async function takeApart(page, name, messages, signal) {
  let text = "";
  /** @type {import("../events.js").Done | null} */
  let done = null;
  /** @type {import("../events.js").Failure | null} */
  let failed = null;
  await bringByNdjson(page, { messages, max_tokens: ANSWER_TOKENS, temperature: 0, ignore_eos: true }, (event) => {
    if (event.type === "delta") text += event.text;
    if (event.type === "done") done = event;
    if (event.type === "error") failed = event;
  }, signal);
  const ended = /** @type {import("../events.js").Done | null} */ (done);
  if (!ended) throw new Failed(failed ?? { code: "connection_lost", message: say("unfinished") });
  const { queue_ms, prefill_ms, first_token_ms } = ended.timings;
  return {
    name, text, queue_ms: queue_ms ?? 0, prefill_ms: prefill_ms ?? 0, first_ms: first_token_ms ?? 0,
    prompt: ended.usage.prompt_tokens, cached: ended.usage.cached_tokens,
  };
}

/**
 * Others who are being answered meanwhile; resolves when each of them has begun or failed.
 * @param {string} page @param {Message[][]} questions @param {AbortSignal} signal ends them
 */
export async function keepBusy(page, questions, signal) {
  await Promise.all(questions.map((messages) => new Promise((resolve) => {
    const body = { messages, max_tokens: AHEAD_TOKENS, ignore_eos: true };
    // Whoever is stopped has done its work.
    bringByNdjson(page, body, (event) => {
      if (event.type !== "queued") return;
      // Leaving is not a stop: whoever is not needed any more has to be told.
      signal.addEventListener("abort", () => stopShared(page, event.reply), { once: true });
      resolve(null);
    }, signal).catch(() => {}).finally(() => resolve(null));
  })));
}
