/**
 * The replies on their way in this tab: each an exchange, told apart by the reply's id. One may run in a
 * conversation that is not on the page, and one may belong to another tab and only be read along. It
 * passes on what arrives and refuses to know conversations and where anything is stored.
 *
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {object} Surroundings
 * @property {(frame: import("../events.js").ClientFrame) => boolean} send
 * @property {() => boolean} modelReady
 * @property {(reply: Reply) => void} firstPaint
 * @property {(reply: Reply) => void} changed
 * @property {(reply: Reply) => void} ended
 */

import { afterPaint } from "../measure/paint.js";
import { Exchange } from "./exchange.js";
import { isLive } from "./reply.js";

export class LiveReplies {
  /** @type {Map<string, Exchange>} */
  #exchanges = new Map();
  #heard_ms = 0;

  /** @param {Surroundings} surroundings */
  constructor(surroundings) {
    this.surroundings = surroundings;
  }

  /**
   * @param {Reply} reply @param {import("../events.js").Message[]} messages
   * @param {number} clicked_ms on the clock of performance.now
   * @param {() => import("./exchange.js").View} makeView called when the question is on its way
   */
  begin(reply, messages, clicked_ms, makeView) {
    const { send, modelReady, firstPaint, changed, ended } = this.surroundings;
    let painted = false;
    const exchange = new Exchange(reply, messages, clicked_ms, makeView, {
      send,
      now: () => performance.now(),
      afterPaint: (tell) => {
        if (!painted) firstPaint(reply);
        painted = true;
        afterPaint(tell);
      },
      hidden: () => document.hidden,
      changed: () => changed(reply),
      ended: () => {
        ended(reply);
        this.#letGo();
      },
    });
    this.#exchanges.set(reply.id, exchange);
    this.#heard_ms = performance.now();
    if (modelReady() || reply.late) exchange.begin();
    exchange.view.update();
  }

  /** @param {string} replyId */
  has(replyId) {
    return this.#exchanges.has(replyId) && isLive(/** @type {Exchange} */ (this.#exchanges.get(replyId)).reply);
  }

  /** What a view asks of the clock. @param {Reply} reply @returns {{ elapsed(): number, waitsForModel(): boolean }} */
  timeOf(reply) {
    const begun_ms = () => this.#exchanges.get(reply.id)?.clicked_ms ?? performance.now();
    return {
      elapsed: () => performance.now() - begun_ms(),
      waitsForModel: () => reply.state === "asking" && !this.surroundings.modelReady(),
    };
  }

  /** @param {string} replyId */
  stop(replyId) {
    this.#exchanges.get(replyId)?.stop();
  }

  /** @returns {number} milliseconds since anything was heard of a reply on its way; 0 when there is none */
  get silence_ms() {
    return this.#running().length > 0 ? performance.now() - this.#heard_ms : 0;
  }

  /** @param {import("../events.js").ServerEvent} event */
  hear(event) {
    if (event.type !== "ping" && event.type !== "pong") this.#heard_ms = performance.now();
    for (const exchange of this.#exchanges.values()) exchange.hear(event);
  }

  /** The wire is there (again): go on with what was on its way. */
  connected() {
    if (this.surroundings.modelReady()) for (const exchange of this.#running()) exchange.begin();
  }

  modelIsReady() {
    for (const exchange of this.#running()) exchange.modelIsReady();
  }

  visibilityChanged() {
    for (const exchange of this.#running()) exchange.visibilityChanged();
  }

  // Private

  #running() {
    return [...this.#exchanges.values()].filter(({ reply }) => isLive(reply));
  }

  /** Of those that are over the last one is kept: the server still tells a stopped reply's counts. */
  #letGo() {
    const over = [...this.#exchanges.values()].filter(({ reply }) => !isLive(reply));
    for (const { reply } of over.slice(0, -1)) this.#exchanges.delete(reply.id);
  }
}
