/**
 * A phone's own answer in a sending, which the room has started for it: read on the ordinary wire, found
 * again after a broken connection until it has ended. It refuses to know clocks and elements.
 */

import { bringBySocket } from "../stream/socket_lane.js";

const TRIES = 8;
const WAIT_MS = 700;

/**
 * @param {string} page the page's own address
 * @param {string} reply its name
 * @param {(event: import("../events.js").ServerEvent) => void} hear
 * @param {AbortSignal} signal
 */
export async function readOwn(page, reply, hear, signal) {
  let after = 0;
  const listen = (/** @type {import("../events.js").ServerEvent} */ event) => {
    if (event.type === "delta") after = event.seq;
    hear(event);
  };
  for (let tries = 0; tries < TRIES && !signal.aborted; tries += 1) {
    try {
      return await bringBySocket(page, { type: "attach", reply, after, pace: "token" }, listen, signal);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
}
