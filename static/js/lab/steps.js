/**
 * The engine's own account of its steps (GET /api/lab/steps), as they come.
 *
 * @typedef {{ type: "limits", high_tokens: number, low_tokens: number, stall_s: number, block_tokens: number }} Limits
 * @typedef {"prefill" | "decode" | "ahead"} Phase `ahead`: the reply is over; read for its conversation's next turn
 * @typedef {{ type: "step", t: number, ms: number, steps: number, rows: [number, Phase, number][],
 *   kv_used: number, kv_total: number, waiting: number, paused: number }} Step
 */

import { httpAddress } from "../stream/address.js";
import { Failed } from "../stream/failure.js";
import { LineParser } from "../stream/ndjson_parser.js";
import { readText, refusalOf } from "../stream/one_request.js";

/**
 * Listen until the signal; resolves with the limits once the server listens to its engine.
 * @param {string} page the page's own address
 * @param {(step: Step) => void} hear
 * @param {AbortSignal} signal
 * @returns {Promise<Limits>}
 */
export async function watchSteps(page, hear, signal) {
  const response = await fetch(httpAddress(page, "api/lab/steps"), { signal, cache: "no-store" });
  if (!response.ok) throw new Failed(await refusalOf(response));
  return new Promise((resolve, reject) => {
    const lines = new LineParser();
    readText(response, (text) => {
      for (const line of lines.push(text)) {
        const said = JSON.parse(line);
        if (said.type === "limits") resolve(said);
        else if (said.type === "step") hear(said);
      }
    }).then(() => reject(new Failed({ code: "connection_lost", message: "the steps ended" })), reject);
  });
}
