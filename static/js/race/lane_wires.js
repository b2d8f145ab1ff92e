/**
 * The wires that a lane may use, by name: each brings one reply over a connection of its own.
 */

import { bringByNdjson } from "../stream/ndjson_wire.js";
import { bringByPlain } from "../stream/plain_wire.js";
import { bringByPolling } from "../stream/polling_wire.js";
import { bringBySocket } from "../stream/socket_lane.js";
import { bringBySse } from "../stream/sse_wire.js";

const BRING = { socket: bringBySocket, sse: bringBySse, ndjson: bringByNdjson, plain: bringByPlain, polling: bringByPolling };

/**
 * @param {string} page the page's own address
 * @returns {(wire: string) => import("./race.js").Bring}
 */
export function wiresOf(page) {
  return (wire) => {
    const bring = BRING[/** @type {keyof typeof BRING} */ (wire)];
    return (body, hear, signal, named) => bring(page, body, hear, signal, named);
  };
}
