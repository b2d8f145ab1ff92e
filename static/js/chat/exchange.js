/**
 * One reply on its way: asks for it, takes what arrives, has it painted, and keeps its clock.
 *
 * The clock starts at the click and everything is counted from there. What has been painted is
 * acknowledged, so that the server knows how far the reader really is; a reader who pauses or has the
 * text smoothed is so far behind, and the end of the reply waits for the last paint. A lost connection
 * is answered by going on after the last piece; Stop silences the page at once and tells the server. It
 * refuses to know sockets (a `send` is handed in) and elements (a view is).
 *
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {import("../events.js").ServerEvent} ServerEvent
 * @typedef {{ paint(text: string): void, update(): void, finish(): void, onHold?(held: boolean): void }} View
 *   `onHold` is set here; the view calls it when the reader pauses what moves, or lets it go on
 * @typedef {object} Ports
 * @property {(frame: import("../events.js").ClientFrame) => boolean} send
 * @property {() => number} now milliseconds, monotonic
 * @property {(tell: (stamp_ms: number) => void) => void} afterPaint
 * @property {() => boolean} hidden
 * @property {() => void} changed something worth keeping has happened
 * @property {() => void} ended
 */

import { Painter } from "../answer/painter.js";
import { EvenPace, withDelay } from "../measure/even_pace.js";
import { say } from "../words.js";
import { ClockQuestions } from "./clock_questions.js";
import { MAX_FRAME_BYTES, bytesOf } from "./question.js";
import { failWith, hear, isAbout, isLive, stopAt } from "./reply.js";
import { SignsOfLife } from "./signs_of_life.js";
import { wireSettings } from "./settings.js";

export class Exchange {
  #view = /** @type {View | null} */ (null);
  #shown;
  #stopWanted = false;
  #asked = false;
  /** When each piece that is kept back on purpose had come. @type {Map<number, number>} */
  #came = new Map();
  /** @type {EvenPace | null} */
  #even = null;
  /** The end, which waits for the last paint. @type {ServerEvent | null} */
  #lateEnd = null;

  /**
   * @param {Reply} reply
   * @param {import("../events.js").Message[]} messages
   * @param {number} clicked_ms on the clock of `ports.now`
   * @param {() => View} makeView
   * @param {Ports} ports
   * @param {import("../answer/painter.js").Frames} [frames]
   */
  constructor(reply, messages, clicked_ms, makeView, ports, frames) {
    this.reply = reply;
    this.messages = messages;
    this.clicked_ms = clicked_ms;
    this.makeView = makeView;
    this.ports = ports;
    this.#shown = reply.text;
    this.painter = new Painter((text, seq) => this.#paint(text, seq), frames);
    this.clock = new ClockQuestions(reply, ports.send, () => this.#elapsed());
    this.life = new SignsOfLife(() => this.painter.waiting, (seq) => this.#acknowledge(seq));
    if (reply.settings?.smoothed && reply.mode === "streamed") this.#even = new EvenPace();
    if (ports.hidden()) reply.flags.hidden = true;
  }

  /** @returns {View} made when there is something to show: the question is on its way by then */
  get view() {
    this.#view ??= Object.assign(this.makeView(), { onHold: (/** @type {boolean} */ held) => this.#hold(held) });
    return this.#view;
  }

  /** Ask, or go on where the text ends. Safe to call again after every reconnection. */
  begin() {
    if (this.#lateEnd) return; // All of it is here; by now the server may have forgotten it.
    const { reply, messages } = this;
    if (reply.late) return this.#take(reply.late); // It came before the page was loaded anew.
    /** @type {import("../events.js").Pace} */
    const pace = reply.mode === "whole" ? "whole" : (reply.settings?.pace ?? "word");
    const sent_ms = this.#elapsed();
    /** @type {import("../events.js").ClientFrame} */
    const frame = reply.reply !== null
      ? { type: "attach", reply: reply.reply, after: reply.seq, pace, acks: true }
      : { type: "start", id: reply.id, messages, pace, acks: true, ...wireSettings(reply.settings), ...goingOn(messages) };
    const count = bytesOf(frame);
    // The server would cut the connection for it, and again after every reconnection.
    if (count > MAX_FRAME_BYTES) return this.fail({ code: "request_too_large", message: say("promptTooLong", { count, most: MAX_FRAME_BYTES }), retryable: false });
    const sent = this.ports.send(frame);
    if (sent && this.#asked && reply.reply !== null) reply.flags.reconnected = true;
    // A second asking has times of its own; they explain nothing.
    if (sent) reply.trace = this.#asked || reply.reply !== null ? null : { sent_ms, clock: null, first: null };
    this.#asked ||= sent;
    // Stop, pressed while there was no connection, is not forgotten.
    if (sent && this.#stopWanted && reply.reply !== null) this.ports.send({ type: "stop", reply: reply.reply });
  }

  /** @param {ServerEvent} event */
  hear(event) {
    const { reply } = this;
    if (!isAbout(reply, event) || this.#lateEnd) return;
    if (event.type === "pong") return this.clock.hear(event);
    if (event.type === "error" && event.code === "engine_loading" && reply.state === "asking") {
      this.#asked = false;
      return;
    }
    if (event.type !== "done" || !isLive(reply) || !this.#keepsBack) return this.#take(event);
    this.#lateEnd = reply.late = event;
    this.ports.changed();
    this.painter.whenEmpty(() => this.#take(event));
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
    if (this.#lateEnd) hear(this.reply, this.#lateEnd, this.#elapsed());
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

  /** What has arrived may stay unpainted for a while: by the reader's own choice, or because it is much. */
  get #keepsBack() {
    return this.#even !== null || this.painter.isHeld || this.painter.isBehind;
  }

  #elapsed() {
    return this.ports.now() - this.clicked_ms;
  }

  /** @param {ServerEvent} event about this reply */
  #take(event) {
    const { reply } = this;
    const text = hear(reply, event, this.#elapsed());
    if (event.type === "queued") {
      if (this.#stopWanted && reply.reply !== null) this.ports.send({ type: "stop", reply: reply.reply });
      this.clock.begin(event);
    }
    if (text) this.#push(text);
    if (!isLive(reply)) this.#end();
    else this.view.update();
  }

  /** @param {string} text */
  #push(text) {
    const { reply } = this;
    const now_ms = this.ports.now();
    if (this.#even) this.#came.set(reply.seq, now_ms);
    this.painter.push(text, reply.seq, this.#even?.due(now_ms));
  }

  /** @param {boolean} held */
  #hold(held) {
    if (held) this.painter.hold();
    else this.painter.release();
    this.life.show(held);
    // Who pauses may go away for long: what was seen is stored by then.
    if (held) this.ports.changed();
  }

  /** @param {string} text @param {number | null} seq at its end; null: more of this piece is to come */
  #paint(text, seq) {
    const { reply } = this;
    this.view.paint(text);
    this.#shown += text;
    for (const [mark, came_ms] of this.#came) {
      if (seq === null || mark > seq) break;
      reply.smoothing = withDelay(reply.smoothing, this.ports.now() - came_ms);
      this.#came.delete(mark);
    }
    const isFirst = reply.firstPaint_ms === null;
    if (seq !== null) this.#acknowledge(seq);
    this.ports.afterPaint((stamp_ms) => {
      if (isFirst) reply.firstPaint_ms = stamp_ms - this.clicked_ms;
      reply.lastPaint_ms = stamp_ms - this.clicked_ms;
      this.view.update();
      if (isFirst || !isLive(reply)) this.ports.changed();
    });
    this.view.update();
  }

  /** @param {number} seq */
  #acknowledge(seq) {
    if (this.reply.reply !== null) this.ports.send({ type: "ack", reply: this.reply.reply, seq });
  }

  #end() {
    delete this.reply.late;
    this.reply.ended_ms ??= this.#elapsed();
    this.life.show(false);
    this.painter.release();
    this.view.finish();
    this.view.update();
    this.ports.changed();
    this.ports.ended();
  }
}

// Private

/** A conversation that ends with the assistant's own words is gone on with, not answered.
 * @param {import("../events.js").Message[]} messages @returns {{ continue_last?: true }} */
const goingOn = (messages) => (messages.at(-1)?.role === "assistant" ? { continue_last: true } : {});
