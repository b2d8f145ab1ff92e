/**
 * One reply for several readers: it is started, waits until all of them are there, and only then is
 * made. So whatever they see differently is the way's doing and not the model's.
 */

import { httpAddress } from "../stream/address.js";
import { Failed } from "../stream/failure.js";
import { ask, refusalOf } from "../stream/one_request.js";

/**
 * @param {string} page the page's own address
 * @param {object} body what is asked, as in a start
 * @param {number} readers how many will come; pollers count
 * @returns {Promise<{ reply: string, poller: string }>} rejects with the server's own sentence
 */
export async function startShared(page, body, readers) {
  /** @type {import("../events.js").ServerEvent | null} */
  let refused = null;
  // The one who asks is a poller, which counts as a reader too.
  const response = await ask(page, { ...body, poll: true, await_readers: readers }, "application/json", (event) => (refused = event), new AbortController().signal);
  if (response) return response.json();
  throw new Failed(/** @type {any} */ (refused) ?? {});
}

/** End it for everybody. @param {string} page @param {string} reply */
export function stopShared(page, reply) {
  fetch(httpAddress(page, `api/replies/${encodeURIComponent(reply)}`), { method: "DELETE", keepalive: true }).catch(() => {});
}

/**
 * A staged reply (app/lab/staged.py), for what models rarely do.
 * @param {string} page the page's own address @param {string} kind @param {number} readers
 * @returns {Promise<{ reply: string, poller: string }>}
 */
export async function startStaged(page, kind, readers) {
  const response = await fetch(httpAddress(page, "api/lab/replies"), {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ kind, await_readers: readers }),
  });
  if (!response.ok) throw new Failed(await refusalOf(response));
  // Its poller is whoever polls first.
  return { poller: "", ...(await response.json()) };
}
