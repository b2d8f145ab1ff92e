/**
 * The wire that works here: a WebSocket, and where that is refused although the server answers, plain
 * HTTP, whose code is fetched only then. What was found is remembered for this tab, so that the next page
 * does not try in vain.
 */

import { recall, remember, tabStorage } from "../remembered.js";
import { httpAddress, socketAddress } from "./address.js";
import { SocketWire } from "./socket_wire.js";

const FETCH_AGAIN_MS = 1000;

/**
 * @param {string} page the page's own address
 * @param {(event: import("../events.js").ServerEvent) => void} tell
 * @param {(state: import("./socket_wire.js").WireState) => void} tellState
 * @returns {import("./socket_wire.js").Wire}
 */
export function connect(page, tell, tellState) {
  /** @type {import("./socket_wire.js").Wire | null} */
  let wire = null;
  if (recall("wire", "socket", tabStorage()) === "http") void overHttp();
  else wire = new SocketWire(socketAddress(page), tell, async (state) => {
    if (state.kind !== "refused") return tellState(state);
    if (!(await answers(page))) return; // The server is away, not the WebSocket: go on trying.
    wire?.close();
    wire = null;
    remember("wire", "http", tabStorage());
    await overHttp();
  });
  return {
    send: (frame) => wire?.send(frame) ?? false,
    probe: () => wire?.probe(),
    close: () => wire?.close(),
  };

  async function overHttp() {
    try {
      const { HttpWire } = await import("./http_wire.js");
      wire = new HttpWire(page, tell, tellState);
    } catch {
      return void setTimeout(overHttp, FETCH_AGAIN_MS);
    }
    tellState({ kind: "refused" });
    tellState({ kind: "open" });
  }
}

// Private

/** @param {string} page */
async function answers(page) {
  try {
    return (await fetch(httpAddress(page, "healthz"), { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}
