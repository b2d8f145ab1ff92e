/**
 * One reply and one reader of it over a WebSocket of its own: it acknowledges only what it has read, at
 * a speed that may change at any time. Lasts until the reply has ended and all of it is read, or the
 * reader sleeps, or the signal.
 *
 * @typedef {{ kind: "waiting" | "running" | "done" | "cancelled" | "error", message: string }} Fate
 */

import { socketAddress } from "../stream/address.js";
import { sayFailure } from "../stream/failure.js";
import { readFrame } from "../stream/frames.js";
import { Ledger } from "./ledger.js";

/** How often a reader looks up; each look may cost one small frame, which is not counted as a message. */
const EVERY_MS = 50;

export class SlowReader {
  ledger = new Ledger();
  promptTokens = 0;
  /** @type {Fate} */
  fate = { kind: "waiting", message: "" };
  /** @type {{ at_ms: number, text: string, tokens: number }[]} */
  arrivals = [];
  #reply = "";

  /** @param {() => number} speed tokens a second, asked at every look; Infinity: at once */
  constructor(speed) {
    this.speed = speed;
  }

  /** Tokens in the model's memory now. */
  get held() {
    return this.fate.kind === "running" ? this.promptTokens + this.ledger.made : 0;
  }

  /**
   * @param {string} page the page's own address
   * @param {object} body of the start
   * @param {number} began_ms on performance.now
   * @param {AbortSignal} signal
   * @returns {Promise<void>}
   */
  run(page, body, began_ms, signal) {
    const now_ms = () => performance.now() - began_ms;
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(socketAddress(page));
      const look = setInterval(() => {
        const seq = this.ledger.readOn(now_ms(), this.speed());
        if (seq !== null && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "ack", reply: this.#reply, seq }));
        if (this.#isOver()) finish();
      }, EVERY_MS);
      const finish = () => {
        clearInterval(look);
        // A closed socket is not a stop: whoever goes for good has to say so.
        if (this.#isAlive() && this.#reply && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "stop", reply: this.#reply }));
        if (this.#isAlive()) this.fate = { kind: "cancelled", message: "" };
        this.ledger.goOn(now_ms());
        socket.onclose = null;
        socket.close();
        resolve();
      };
      signal.addEventListener("abort", finish, { once: true });
      socket.onopen = () => socket.send(JSON.stringify({ type: "start", ...body, acks: true }));
      socket.onmessage = ({ data }) => {
        const event = readFrame(data);
        if (event) this.#hear(event, now_ms());
      };
      socket.onclose = ({ code }) => {
        clearInterval(look);
        reject(new Error(`WebSocket ${code}`));
      };
    });
  }

  // Private

  #isAlive() {
    return this.fate.kind === "running" || this.fate.kind === "waiting";
  }

  #isOver() {
    if (this.fate.kind === "error") return true;
    return this.fate.kind === "done" && (this.ledger.unread === 0 || this.speed() === 0);
  }

  /** @param {import("../events.js").ServerEvent} event @param {number} at_ms */
  #hear(event, at_ms) {
    switch (event.type) {
      case "queued":
        this.#reply = event.reply;
        break;
      case "started":
        this.#reply = event.reply;
        this.promptTokens = event.prompt_tokens;
        this.fate = { kind: "running", message: "" };
        break;
      case "delta":
        this.ledger.come(event, at_ms);
        this.arrivals.push({ at_ms, text: event.text, tokens: event.tokens });
        break;
      case "paused":
        this.ledger.pause(at_ms);
        break;
      case "resumed":
        this.ledger.goOn(at_ms);
        break;
      case "done":
        this.fate = { kind: event.finish_reason === "cancelled" ? "cancelled" : "done", message: "" };
        this.ledger.goOn(at_ms);
        break;
      case "error":
        this.fate = { kind: "error", message: sayFailure(event) };
        this.ledger.goOn(at_ms);
    }
  }
}
