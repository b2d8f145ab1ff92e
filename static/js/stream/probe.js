/**
 * Asks the server for ticks at an even pace and notes when each arrives, over the same kind of
 * streamed response that answers use.
 */

import { httpAddress } from "./address.js";
import { LineParser } from "./ndjson_parser.js";
import { readText } from "./one_request.js";

export const TICKS = 20;
export const EVERY_MS = 100;

/**
 * @param {string} page the page's own address
 * @param {(ticks: import("../measure/probe_verdict.js").Tick[]) => void} arrived after each arrival
 * @param {AbortSignal} signal
 */
export async function probe(page, arrived, signal) {
  const address = httpAddress(page, `api/probe?ticks=${TICKS}&every_ms=${EVERY_MS}`);
  const asked_ms = performance.now();
  const response = await fetch(address, { signal, cache: "no-store", headers: { accept: "application/x-ndjson" } });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const lines = new LineParser();
  /** @type {import("../measure/probe_verdict.js").Tick[]} */
  const ticks = [];
  await readText(response, (text) => {
    const at_ms = performance.now() - asked_ms;
    for (const line of lines.push(text)) {
      const tick = JSON.parse(line);
      if (tick.type === "tick" && typeof tick.t === "number") ticks.push({ sent_ms: tick.t, at_ms });
    }
    arrived([...ticks]);
  });
}
