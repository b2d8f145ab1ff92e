/**
 * "Everybody sends now", on one phone: its prompt, its place in the line, its own answer with the clock
 * that stops at the first paint, and the strip. The measurement is told once and said again until the
 * server has it.
 *
 * @typedef {import("../rooms/room_frames.js").Room} Room
 * @typedef {import("../rooms/room_frames.js").Me} Me
 */

import { afterPaint } from "../measure/paint.js";
import { spellTime } from "../measure/spelling.js";
import { countWords } from "../measure/words_read.js";
import { readOwn } from "../rooms/own_reply.js";
import { say } from "../words.js";
import { part, setText } from "./parts.js";
import { Strip } from "./strip.js";

/** @typedef {{ reply: string, begun_ms: number, first_ms: number | null, text: string, ended: boolean, hidden: boolean, failed: string,
 *   arrivals: { at_ms: number, words: number, tokens: number, seq: number }[] }} Reading */

export class OwnAnswer {
  /** @type {Reading | null} */
  #reading = null;
  #abort = new AbortController();
  #begun = 0;
  /** @type {Room | null} */
  #room = null;
  /** @type {Me | null} */
  #me = null;
  #strip = new Strip();
  /** When the button was pressed for an answer that has no name yet. @type {number | null} */
  #clicked_ms = null;

  /**
   * @param {HTMLElement} root
   * @param {import("../rooms/room_clock.js").RoomClock} clock
   * @param {(command: object) => boolean} say_
   */
  constructor(root, clock, say_) {
    this.clock = clock;
    this.tell = say_;
    this.state = part(root, "own-state", HTMLElement);
    this.text = part(root, "own-text", HTMLElement);
    this.send = part(root, "own-send", HTMLButtonElement);
    part(root, "own-strip", HTMLElement).replaceChildren(this.#strip.element);
    this.send.addEventListener("click", ({ timeStamp }) => this.#sendOwn(timeStamp));
    document.addEventListener("visibilitychange", () => {
      if (document.hidden && this.#reading && this.#reading.first_ms === null) this.#reading.hidden = true;
    });
  }

  /** @param {Room} room @param {Me} me @param {import("../rooms/room_frames.js").Line | null} line */
  show(room, me, line) {
    this.#room = room;
    this.#me = me;
    const { sending } = room;
    if (!sending || (this.#begun && this.#begun !== sending.id)) this.#forget();
    if (!sending || !me.sending) return;
    this.#begun = sending.id;
    const { reply } = me.sending;
    const isOwn = sending.mode === "own_time";
    if (reply && this.#reading?.reply !== reply && this.clock.isPlaced && sending.started_ms !== null) {
      // A page that was loaded anew does not know when its button was pressed: it reads and does not measure.
      this.#read(reply, isOwn ? (this.#clicked_ms ?? -1) : this.clock.here_ms(sending.started_ms));
      this.#clicked_ms = null;
    }
    this.send.hidden = !isOwn || room.phase !== "sending";
    this.send.disabled = me.sending.prompt === null || me.sending.running || this.#clicked_ms !== null;
    this.#draw(line);
    this.#report();
  }

  // Private

  /** The room starts it, so that each phone has one in flight. @param {number} clicked_ms */
  #sendOwn(clicked_ms) {
    if (!this.tell({ type: "send_own" })) return;
    this.#clicked_ms = clicked_ms;
    this.#abort.abort();
    this.#reading = null;
    this.send.disabled = true;
    this.#draw(null);
  }

  /**
   * @param {string} reply
   * @param {number} begun_ms on this device's clock; before this page was there when below 0, and then its first
   *   paint is no first word
   */
  #read(reply, begun_ms) {
    this.#abort.abort();
    this.#abort = new AbortController();
    /** @type {Reading} */
    const reading = { reply, begun_ms, first_ms: null, text: "", ended: false, hidden: document.hidden || begun_ms < 0, failed: "", arrivals: [] };
    this.#reading = reading;
    readOwn(location.href, reply, (event) => this.#hear(reading, event), this.#abort.signal).then(() => {
      reading.ended = true;
      this.#draw(null);
    });
  }

  /** @param {Reading} reading @param {import("../events.js").ServerEvent} event */
  #hear(reading, event) {
    if (reading !== this.#reading) return;
    if (event.type === "queued") setText(this.state, say("ownQueued", { count: event.position }));
    if (event.type === "error") reading.failed = event.message;
    if (event.type !== "delta") return;
    reading.text += event.text;
    reading.arrivals.push({ at_ms: performance.now() - reading.begun_ms, words: countWords(event.text), tokens: event.tokens, seq: event.seq });
    this.#draw(null);
    if (reading.arrivals.length > 1) return;
    afterPaint((stamp_ms) => {
      reading.first_ms = stamp_ms - reading.begun_ms;
      this.#draw(null);
      this.#report();
    });
  }

  #report() {
    const reading = this.#reading;
    const mine = this.#me?.sending;
    if (!reading || reading.first_ms === null || mine?.measure || mine?.reply !== reading.reply) return;
    const first_word_ms = Math.max(0, Math.round(reading.first_ms * 10) / 10);
    this.tell({ type: "measured", reply: reading.reply, first_word_ms, hidden: reading.hidden, clock_error_ms: this.clock.error_ms });
  }

  /** @param {import("../rooms/room_frames.js").Line | null} line */
  #draw(line) {
    const reading = this.#reading;
    setText(this.text, reading?.text ?? "");
    if (reading) {
      const now_ms = reading.arrivals.at(-1)?.at_ms ?? 0;
      this.#strip.show({ arrivals: /** @type {any} */ (reading.arrivals), now_ms, ended: reading.ended, firstPaint_ms: reading.first_ms });
    }
    this.#strip.element.hidden = !reading?.text;
    const told = this.#words(line);
    if (told) setText(this.state, told);
  }

  /** @param {import("../rooms/room_frames.js").Line | null} line */
  #words(line) {
    const mine = this.#me?.sending;
    if (this.#reading?.failed || mine?.failure) return say("ownFailed", { why: this.#reading?.failed || mine?.failure || "" });
    if (this.#reading?.first_ms != null) return say("ownFirst", { time: spellTime(this.#reading.first_ms) });
    if (mine?.measure) return say("ownFirst", { time: spellTime(mine.measure.first_word_ms) });
    if (this.#room?.sending?.mode === "own_time") return say(this.#reading || this.#clicked_ms !== null ? "ownWaiting" : "ownPress");
    if (this.#reading) return "";
    if (mine && mine.place === null) return say("ownNotIn");
    return say("ownQueued", { count: Math.max(0, (mine?.place ?? 0) - (line?.begun ?? 0)) });
  }

  #forget() {
    this.#abort.abort();
    this.#reading = null;
    this.#clicked_ms = null;
    this.#begun = 0;
    setText(this.text, "");
    setText(this.state, "");
  }
}
