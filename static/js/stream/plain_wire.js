/**
 * One reply as plain chunks of text. This wire carries nothing else: no counts of tokens, no stamps
 * of the server, no reason of the end, and an end in mid-reply is told by the broken connection alone.
 * Each piece that the browser hands over is one arrival.
 */

import { ask, readText } from "./one_request.js";

/**
 * @param {string} page the page's own address
 * @param {object} body
 * @param {(event: import("../events.js").ServerEvent) => void} hear
 * @param {AbortSignal} signal
 * @param {(reply: string) => void} [named] told the reply's name before there is any text
 */
export async function bringByPlain(page, body, hear, signal, named = () => {}) {
  const response = await ask(page, body, "text/plain", hear, signal);
  if (!response) return;
  const reply = response.headers.get("x-reply-id") ?? "";
  named(reply);
  let seq = 0;
  await readText(response, (text) => {
    seq += 1;
    hear({ type: "delta", reply, seq, text, tokens: 0, t: 0 });
  });
}
