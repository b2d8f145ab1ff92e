/**
 * One reply asked for over HTTP: the request, a refusal as an error event, and the body as text. What
 * the text means is the caller's. Connections are not found again here: in a race, a broken
 * connection is a result.
 */

import { httpAddress } from "./address.js";

/**
 * @param {string} page the page's own address
 * @param {object} body
 * @param {string} accept
 * @param {(event: import("../events.js").ServerEvent) => void} hear told of a refusal
 * @param {AbortSignal} signal
 * @returns {Promise<Response | null>} null: refused, and `hear` knows why
 */
export async function ask(page, body, accept, hear, signal) {
  const response = await fetch(httpAddress(page, "api/replies"), {
    method: "POST", signal, headers: { accept, "content-type": "application/json" }, body: JSON.stringify(body),
  });
  if (response.ok) return response;
  hear(await refusalOf(response));
  return null;
}

/** @param {Response} response @returns {Promise<import("../events.js").Failure>} */
export async function refusalOf(response) {
  const said = await response.json().catch(() => ({}));
  const { code = "error", message = "", retryable = false } = said.error ?? said;
  return { type: "error", code: String(code), message: String(message || `HTTP ${response.status}`), retryable: retryable === true };
}

/**
 * @param {Response} response
 * @param {(text: string) => void} take every piece of text as it comes
 */
export async function readText(response, take) {
  if (!response.body) throw new Error("the answer has no body");
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    const text = decoder.decode(value, { stream: !done });
    if (text !== "") take(text);
    if (done) return;
  }
}
