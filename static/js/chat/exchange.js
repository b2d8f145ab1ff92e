/**
 * One reply on its way: asks for it, takes what arrives, has it painted, and keeps its clock.
 *
 * The clock starts at the click and everything is counted from there. What has been painted is
 * acknowledged, so that the server knows how far the reader really is. A lost connection is answered
 * by going on after the last piece; Stop silences the page at once and tells the server. It refuses to
 * know sockets (a `send` is handed in) and elements (a view is).
 *
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {import("../events.js").ServerEvent} ServerEvent
 * @typedef {{ paint(text: string): void, update(): void, finish(): void }} View
 * @typedef {object} Ports
 * @property {(frame: import("../events.js").ClientFrame) => boolean} send
 * @property {() => number} now milliseconds, monotonic
 * @property {(tell: (stamp_ms: number) => void) => void} afterPaint
 * @property {() => boolean} hidden
 * @property {() => void} changed something worth keeping has happened
 * @property {() => void} ended
 */

import { Painter } from "../answer/painter.js";
import { failWith, hear, isAbout, isLive, stopAt } from "./reply.js";

export class Exchange {
  #shown;
  #stopWanted = false;
  #asked = false;

  /**
   * @param {Reply} reply
   * @param {import("../events.js").Message[]} messages
   * @param {number} clicked_ms on the clock of `ports.now`
   * @param {View} view
   * @param {Ports} ports
   * @param {ConstructorParameters<typeof Painter>[1]} [frames]
   */
  constructor(reply, messages, clicked_ms, view, ports, frames) {
    this.reply = reply;
    this.messages = messages;
    this.clicked_ms = clicked_ms;
    this.view = view;
    this.ports = ports;
    this.#shown = reply.text;
    this.painter = new Painter((text) => this.#paint(text), frames);
    if (ports.hidden()) reply.flags.hidden = true;
  }

  /** Ask, or go on where the text ends. Safe to call again after every reconnection. */
  begin() {
    const { reply, messages } = this;
    const pace = reply.mode === "whole" ? "whole" : "word";
    const frame = reply.reply !== null
      ? { type: /** @type {const} */ ("attach"), reply: reply.reply, after: reply.seq, pace: /** @type {import("../events.js").Pace} */ (pace), acks: true }
      : { type: /** @type {const} */ ("start"), id: reply.id, messages, pace: /** @type {import("../events.js").Pace} */ (pace), acks: true };
    const sent = this.ports.send(frame);
    if (sent && this.#asked && reply.reply !== null) reply.flags.reconnected = true;
    this.#asked ||= sent;
    // Stop, pressed while there was no connection, is not forgotten.
    if (sent && this.#stopWanted && reply.reply !== null) this.ports.send({ type: "stop", reply: reply.reply });
  }

  /** @param {ServerEvent} event */
  hear(event) {
    const { reply } = this;
    if (!isAbout(reply, event)) return;
    if (event.type === "error" && event.code === "engine_loading" && reply.state === "asking") {
      this.#asked = false;
      return;
    }
    const text = hear(reply, event, this.#elapsed());
    if (this.#stopWanted && reply.reply !== null && event.type === "queued") {
      this.ports.send({ type: "stop", reply: reply.reply });
    }
    if (text) this.painter.push(text);
    if (!isLive(reply)) this.#end();
    else this.view.update();
  }

  /** The model has become ready: ask, if the question is still with us. */
  modelIsReady() {
    if (!this.#asked && isLive(this.reply)) this.begin();
  }

  /** The reader wants no more. The page is silent from here on; the server is told. */
  stop() {
    if (!isLive(this.reply)) return;
    this.painter.drop();
    this.#stopWanted = true;
    if (this.reply.reply !== null) this.ports.send({ type: "stop", reply: this.reply.reply });
    stopAt(this.reply, this.#shown);
    this.#end();
  }

  /** @param {{ code: string, message: string, retryable: boolean }} error */
  fail(error) {
    if (!isLive(this.reply)) return;
    failWith(this.reply, error);
    this.#end();
  }

  /** The tab was hidden or shown: no frame comes to a hidden tab, and its times are flagged. */
  visibilityChanged() {
    if (!this.ports.hidden()) return;
    if (isLive(this.reply)) this.reply.flags.hidden = true;
    this.painter.flush();
  }

  // Private

  #elapsed() {
    return this.ports.now() - this.clicked_ms;
  }

  /** @param {string} text */
  #paint(text) {
    const { reply } = this;
    this.view.paint(text);
    this.#shown += text;
    const isFirst = reply.firstPaint_ms === null;
    if (reply.reply !== null) this.ports.send({ type: "ack", reply: reply.reply, seq: reply.seq });
    this.ports.afterPaint((stamp_ms) => {
      if (isFirst) reply.firstPaint_ms = stamp_ms - this.clicked_ms;
      reply.lastPaint_ms = stamp_ms - this.clicked_ms;
      this.view.update();
      if (isFirst || !isLive(reply)) this.ports.changed();
    });
    this.view.update();
  }

  #end() {
    this.reply.ended_ms ??= this.#elapsed();
    this.painter.flush();
    this.view.finish();
    this.view.update();
    this.ports.changed();
    this.ports.ended();
  }
}
