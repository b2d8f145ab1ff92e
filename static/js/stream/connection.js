/**
 * The wire that works here: a WebSocket, and where that is refused although the server answers, plain
 * HTTP. What was found is remembered for this tab, so that the next page does not try in vain.
 */

import { recall, remember, tabStorage } from "../remembered.js";
import { httpAddress, socketAddress } from "./address.js";
import { HttpWire } from "./http_wire.js";
import { SocketWire } from "./socket_wire.js";

/**
 * @param {string} page the page's own address
 * @param {(event: import("../events.js").ServerEvent) => void} tell
 * @param {(state: import("./socket_wire.js").WireState) => void} tellState
 * @returns {import("./socket_wire.js").Wire}
 */
export function connect(page, tell, tellState) {
  if (recall("wire", "socket", tabStorage()) === "http") return overHttp();
  /** @type {import("./socket_wire.js").Wire} */
  let wire = new SocketWire(socketAddress(page), tell, async (state) => {
    if (state.kind !== "refused") return tellState(state);
    if (!(await answers(page))) return; // The server is away, not the WebSocket: go on trying.
    wire.close();
    remember("wire", "http", tabStorage());
    wire = overHttp();
  });
  return {
    send: (frame) => wire.send(frame),
    probe: () => wire.probe(),
    close: () => wire.close(),
  };

  function overHttp() {
    const http = new HttpWire(page, tell, tellState);
    // After the caller has got the wire that it will be told about.
    queueMicrotask(() => {
      tellState({ kind: "refused" });
      tellState({ kind: "open" });
    });
    return http;
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
