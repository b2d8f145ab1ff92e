/**
 * Asks where the server's clock stands while a reply is on its way: the start itself is the first
 * question, a few pings, one after another, are better ones. The best answer goes into the reply's
 * trace. Over plain HTTP nobody answers a ping, and the first answer stays.
 */

import { betterPlaced, placeClock } from "../measure/clock.js";

const QUESTIONS = 6;

export class ClockQuestions {
  #asked = 0;

  /**
   * @param {import("./reply.js").Reply} reply
   * @param {(frame: import("../events.js").ClientFrame) => void} send
   * @param {() => number} elapsed milliseconds after the click
   */
  constructor(reply, send, elapsed) {
    this.reply = reply;
    this.send = send;
    this.elapsed = elapsed;
  }

  /** @param {import("../events.js").Queued} queued the server has the question, and says when it said so */
  begin({ t }) {
    const { trace } = this.reply;
    if (!trace || trace.clock || typeof t !== "number") return;
    trace.clock = placeClock({ sent_ms: trace.sent_ms, in_ms: 0, out_ms: t, got_ms: this.elapsed() });
    this.#ask();
  }

  /** @param {import("../events.js").Pong} pong */
  hear({ t, echo }) {
    const { trace } = this.reply;
    if (!trace || typeof echo !== "number" || typeof t !== "number") return;
    trace.clock = betterPlaced(trace.clock, placeClock({ sent_ms: echo, in_ms: t, out_ms: t, got_ms: this.elapsed() }));
    this.#ask();
  }

  // Private

  #ask() {
    const { reply } = this.reply;
    if (reply === null || this.#asked >= QUESTIONS) return;
    this.#asked += 1;
    this.send({ type: "ping", t: this.elapsed(), reply });
  }
}
