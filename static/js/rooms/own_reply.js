/**
 * A phone's own answer in a sending: read on the ordinary wire, found again after a broken connection
 * until it has ended. It refuses to know clocks and elements.
 */

import { bringBySocket } from "../stream/socket_lane.js";

const TRIES = 8;
const WAIT_MS = 700;

/**
 * @param {string} page the page's own address
 * @param {object} first what is said first: a start, or nothing (the reply has been started for this phone)
 * @param {string} reply its name, where it is known
 * @param {(event: import("../events.js").ServerEvent) => void} hear
 * @param {AbortSignal} signal
 */
export async function readOwn(page, first, reply, hear, signal) {
  let known = reply;
  let after = 0;
  const listen = (/** @type {import("../events.js").ServerEvent} */ event) => {
    if ("reply" in event && event.reply) known = event.reply;
    if (event.type === "delta") after = event.seq;
    hear(event);
  };
  for (let tries = 0; tries < TRIES && !signal.aborted; tries += 1) {
    const body = known ? { type: "attach", reply: known, after, pace: "token" } : first;
    try {
      return await bringBySocket(page, body, listen, signal);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
}
