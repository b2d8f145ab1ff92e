/**
 * The page's WebSocket: frames out, events in, found again when lost.
 *
 * A lost connection is not a lost reply: this module reconnects with back-off and jitter and says so;
 * what to resume is the caller's business. A socket can be dead and still look open (sleep, Wi-Fi
 * change), so silence is answered by a ping, and silence after the ping by a new connection. Where
 * WebSockets are refused from the start it says `refused` once and stops.
 *
 * @typedef {import("../events.js").ServerEvent} ServerEvent
 * @typedef {import("../events.js").ClientFrame} ClientFrame
 * @typedef {{ kind: "open" } | { kind: "lost", retry_ms: number, failures: number } | { kind: "refused" }
 *   | { kind: "trying" }} WireState `trying`: only by asking again shows whether anybody is there
 * @typedef {{ send(frame: ClientFrame): boolean, probe(): void, close(): void }} Wire
 */

import { waitBeforeTry } from "./backoff.js";
import { readFrame } from "./frames.js";

const PROBE_AFTER_MS = 12_000;
const PONG_WITHIN_MS = 4000;
/** A first connection that takes longer is blocked by something on the way. */
const OPEN_WITHIN_MS = 1500;
/** Our own page never piles up more than this; a socket that takes nothing is dead. */
const MAX_BUFFERED_BYTES = 4_194_304;

/** @implements {Wire} */
export class SocketWire {
  /** @type {WebSocket | null} */
  #socket = null;
  #wasOpen = false;
  #failures = 0;
  #closed = false;
  #heard_ms = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #probeTimer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;

  /**
   * @param {string} address
   * @param {(event: ServerEvent) => void} tell
   * @param {(state: WireState) => void} tellState
   */
  constructor(address, tell, tellState) {
    this.address = address;
    this.tell = tell;
    this.tellState = tellState;
    this.#connect();
    this.heartbeat = setInterval(() => this.#checkSilence(), PONG_WITHIN_MS);
  }

  /** @param {ClientFrame} frame @returns {boolean} false: there is no connection now */
  send(frame) {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return false;
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) {
      this.#lose(socket);
      return false;
    }
    socket.send(JSON.stringify(frame));
    return true;
  }

  /** Is the connection alive? Asked when the tab wakes up; a dead one is replaced within seconds. */
  probe() {
    if (this.#socket?.readyState !== WebSocket.OPEN) {
      if (this.#retryTimer !== undefined) this.#connect();
      return;
    }
    // Asking again would only put the end of the waiting off, as often as silence is looked for.
    if (this.#probeTimer !== undefined) return;
    this.send({ type: "ping", t: performance.now() });
    const socket = this.#socket;
    const asked_ms = performance.now();
    this.#probeTimer = setTimeout(() => {
      this.#probeTimer = undefined;
      if (this.#socket === socket && this.#heard_ms < asked_ms) this.#lose(socket);
    }, PONG_WITHIN_MS);
  }

  close() {
    this.#closed = true;
    clearInterval(this.heartbeat);
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#probeTimer);
    this.#socket?.close();
  }

  // Private

  #connect() {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    const socket = new WebSocket(this.address);
    this.#socket = socket;
    const late = setTimeout(() => socket.readyState === WebSocket.CONNECTING && this.#lose(socket), OPEN_WITHIN_MS * (1 + this.#failures));
    socket.onopen = () => {
      clearTimeout(late);
      this.#wasOpen = true;
      this.#heard_ms = performance.now();
      this.tellState({ kind: "open" });
    };
    socket.onmessage = ({ data }) => {
      this.#heard_ms = performance.now();
      // A server that lets in and throws out at once is no connection: the waits go on growing.
      this.#failures = 0;
      const event = readFrame(data);
      if (event) this.tell(event);
    };
    socket.onclose = () => {
      clearTimeout(late);
      this.#lose(socket);
    };
  }

  /** @param {WebSocket} socket */
  #lose(socket) {
    if (this.#socket !== socket || this.#closed) return;
    this.#socket = null;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    if (!this.#wasOpen && this.#failures === 0) this.tellState({ kind: "refused" });
    if (this.#closed) return;
    const retry_ms = waitBeforeTry(this.#failures, Math.random);
    this.#failures += 1;
    this.tellState({ kind: "lost", retry_ms, failures: this.#failures });
    this.#retryTimer = setTimeout(() => this.#connect(), retry_ms);
  }

  #checkSilence() {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    if (performance.now() - this.#heard_ms > PROBE_AFTER_MS) this.probe();
  }
}
