/**
 * One text frame from the server → one event, or null for what this page does not know.
 * A newer server may send more; an unknown type or a broken frame is passed over, never fatal.
 * Pure.
 */

/** @typedef {import("../events.js").ServerEvent} ServerEvent */

/** @type {Record<string, Record<string, "string" | "number">>} */
const NEEDED = {
  queued: { reply: "string", position: "number" },
  started: { reply: "string" },
  delta: { reply: "string", seq: "number", text: "string", tokens: "number" },
  paused: { reply: "string" },
  resumed: { reply: "string" },
  done: { reply: "string", seq: "number", finish_reason: "string" },
  error: { code: "string", message: "string" },
  ping: {},
  pong: {},
};

/**
 * @param {unknown} data a WebSocket message or one line of NDJSON
 * @returns {ServerEvent | null}
 */
export function readFrame(data) {
  if (typeof data !== "string") return null;
  let frame;
  try {
    frame = JSON.parse(data);
  } catch {
    return null;
  }
  const needed = frame && Object.hasOwn(NEEDED, frame.type) ? NEEDED[frame.type] : undefined;
  if (!needed) return null;
  const whole = Object.entries(needed).every(([field, kind]) => typeof frame[field] === kind);
  return whole ? frame : null;
}
