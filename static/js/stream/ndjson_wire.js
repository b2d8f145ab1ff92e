/**
 * One reply over NDJSON: a POST whose answer is one JSON event a line.
 */

import { readFrame } from "./frames.js";
import { LineParser } from "./ndjson_parser.js";
import { ask, readText } from "./one_request.js";

/**
 * @param {string} page the page's own address
 * @param {object} body
 * @param {(event: import("../events.js").ServerEvent) => void} hear
 * @param {AbortSignal} signal
 */
export async function bringByNdjson(page, body, hear, signal) {
  const response = await ask(page, body, "application/x-ndjson", hear, signal);
  if (!response) return;
  const parser = new LineParser();
  let ended = false;
  await readText(response, (text) => {
    for (const line of parser.push(text)) {
      const event = readFrame(line);
      if (event) hear(event);
      ended ||= event?.type === "done" || event?.type === "error";
    }
  });
  if (!ended) throw new Error("the stream ended before the reply did");
}
