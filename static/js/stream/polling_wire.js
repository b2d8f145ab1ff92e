/**
 * One reply by polling: ask, then ask again and again what is new. What streaming replaced: every
 * piece waits for the next question, and most questions are in vain.
 */

import { httpAddress } from "./address.js";
import { readFrame } from "./frames.js";
import { ask, refusalOf } from "./one_request.js";

export const POLL_EVERY_MS = 500;

/**
 * @param {string} page the page's own address
 * @param {object} body
 * @param {(event: import("../events.js").ServerEvent) => void} hear
 * @param {AbortSignal} signal
 * @param {(reply: string) => void} [named] told the reply's name before anything has happened
 * @param {(ms: number) => Promise<void>} [sleep]
 */
export async function bringByPolling(page, body, hear, signal, named = () => {}, sleep = pause) {
  const response = await ask(page, { ...body, poll: true }, "application/json", hear, signal);
  if (!response) return;
  const { reply, poller } = await response.json();
  named(reply);
  let after = 0;
  while (!signal.aborted) {
    await sleep(POLL_EVERY_MS);
    const address = httpAddress(page, `api/replies/${encodeURIComponent(reply)}/poll?after=${after}&poller=${encodeURIComponent(poller)}`);
    const answer = await fetch(address, { signal, cache: "no-store" });
    if (!answer.ok) return hear(await refusalOf(answer));
    const { events } = await answer.json();
    for (const given of events) {
      // Checked as if it had come alone over a wire.
      const event = readFrame(JSON.stringify(given));
      if (!event) continue;
      hear(event);
      if (event.type === "delta") after = event.seq;
      if (event.type === "done" || event.type === "error") return;
    }
  }
}

// Private

/** @param {number} ms @returns {Promise<void>} */
const pause = (ms) => new Promise((resume) => setTimeout(resume, ms));
