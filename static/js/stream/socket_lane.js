/**
 * One reply over a WebSocket of its own, never found again: in a race, a broken connection is a
 * result. (The chat page's socket, which is found again, is socket_wire.js.)
 */

import { socketAddress } from "./address.js";
import { readFrame } from "./frames.js";

/**
 * @param {string} page the page's own address
 * @param {object} body of the start frame
 * @param {(event: import("../events.js").ServerEvent) => void} hear
 * @param {AbortSignal} signal
 * @returns {Promise<void>} when the reply is over
 */
export function bringBySocket(page, body, hear, signal) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(socketAddress(page));
    signal.addEventListener("abort", () => socket.close(), { once: true });
    socket.onopen = () => socket.send(JSON.stringify({ type: "start", ...body }));
    socket.onmessage = ({ data }) => {
      const event = readFrame(data);
      if (!event) return;
      hear(event);
      if (event.type !== "done" && event.type !== "error") return;
      resolve();
      socket.close();
    };
    socket.onclose = ({ code }) => reject(new Error(`WebSocket ${code}`));
  });
}
