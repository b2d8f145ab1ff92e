/**
 * A crowd's run, item by item: live (POST /api/lab/users), or one that was recorded with the real model
 * and is told again at its own times, for a server that has no model ready.
 *
 * @typedef {import("./users_chart.js").Item} Item
 */

import { httpAddress } from "../stream/address.js";
import { Failed } from "../stream/failure.js";
import { LineParser } from "../stream/ndjson_parser.js";
import { readText, refusalOf } from "../stream/one_request.js";

/** @param {string} page the page's own address @param {object} body @param {(item: Item) => void} hear @param {AbortSignal} signal */
export async function runLive(page, body, hear, signal) {
  const response = await fetch(httpAddress(page, "api/lab/users"), {
    method: "POST", signal, headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  });
  if (!response.ok) throw new Failed(await refusalOf(response));
  const lines = new LineParser();
  await readText(response, (text) => lines.push(text).forEach((line) => hear(JSON.parse(line))));
}

/** @param {Item[]} items @param {(item: Item) => void} hear @param {AbortSignal} signal */
export async function runRecorded(items, hear, signal) {
  const began_ms = performance.now();
  for (const item of items) {
    const wait_ms = began_ms + toldAt(item) - performance.now();
    if (wait_ms > 0) await pause(wait_ms, signal);
    if (signal.aborted) return;
    hear(item);
  }
}

/** When an item was told, from the beginning of its run. @param {Item} item */
export function toldAt(item) {
  if (item.type === "step") return item.t + item.ms;
  if (item.type === "user") return item.t;
  return item.type === "totals" ? item.total_ms : 0;
}

// Private

/** @param {number} wait_ms @param {AbortSignal} signal ends it sooner @returns {Promise<void>} */
function pause(wait_ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, wait_ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}
