/**
 * One reply over server-sent events: a POST whose answer is `text/event-stream`.
 */

import { readFrame } from "./frames.js";
import { ask, readText } from "./one_request.js";
import { SseParser } from "./sse_parser.js";

/**
 * @param {string} page the page's own address
 * @param {object} body
 * @param {(event: import("../events.js").ServerEvent) => void} hear
 * @param {AbortSignal} signal
 */
export async function bringBySse(page, body, hear, signal) {
  const response = await ask(page, body, "text/event-stream", hear, signal);
  if (!response) return;
  const parser = new SseParser();
  let ended = false;
  await readText(response, (text) => {
    for (const data of parser.push(text)) {
      const event = readFrame(data);
      if (event) hear(event);
      ended ||= event?.type === "done" || event?.type === "error";
    }
  });
  if (!ended) throw new Error("the stream ended before the reply did");
}
