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
import { sayFailure } from "../stream/failure.js";
import { say } from "../words.js";
import { part, setText } from "./parts.js";
import { Strip } from "./strip.js";

/** `begun_ms` null: nobody knows when the button was pressed, and nothing is measured.
 * @typedef {{ reply: string, begun_ms: number | null, first_ms: number | null, text: string, ended: boolean, hidden: boolean, failed: string,
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
  /**
   * The button was pressed for an answer that has no name yet: when, and what the room had told and this page
   * had read until then, which is still about the answer before.
   * @type {{ at_ms: number, me: Me | null, before: Reading | null } | null}
   */
  #pressed = null;

  /**
   * @param {HTMLElement} root
   * @param {import("../rooms/room_clock.js").RoomClock} clock
   * @param {(command: object) => boolean} tell
   * @param {(command: object) => boolean} press the same, for what the button says
   */
  constructor(root, clock, tell, press) {
    this.clock = clock;
    this.tell = tell;
    this.press = press;
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
    const { reply, failure, running, prompt } = me.sending;
    const isOwn = sending.mode === "own_time";
    const isReplaced = reply !== null && reply === this.#pressed?.me?.sending?.reply;
    const canRead = isOwn || (this.clock.isPlaced && sending.started_ms !== null);
    if (reply && !isReplaced && this.#reading?.reply !== reply && canRead) {
      // A page that was loaded anew does not know when its button was pressed: it reads and does not measure.
      this.#read(reply, isOwn ? (this.#pressed?.at_ms ?? null) : this.clock.here_ms(/** @type {number} */ (sending.started_ms)));
      this.#pressed = null;
    }
    // It has failed before it had a name.
    if (!reply && failure && !running && me !== this.#pressed?.me) this.#pressed = null;
    this.send.hidden = !isOwn || room.phase !== "sending";
    this.send.disabled = prompt === null || running || this.#pressed !== null;
    this.#draw(line);
    this.#report();
  }

  /** The press was refused, or lost with the line: it can be pressed again, and the answer before is back. */
  takeBack() {
    if (!this.#pressed) return;
    // One that had not been read to its end is read anew.
    this.#reading = this.#pressed.before;
    this.#pressed = null;
  }

  // Private

  /** The room starts it, so that each phone has one in flight. @param {number} clicked_ms */
  #sendOwn(clicked_ms) {
    if (!this.press({ type: "send_own" })) return;
    this.#pressed = { at_ms: clicked_ms, me: this.#me, before: this.#reading?.ended ? this.#reading : null };
    this.#abort.abort();
    this.#reading = null;
    this.send.disabled = true;
    this.#draw(null);
  }

  /** @param {string} reply @param {number | null} begun_ms on this device's clock */
  #read(reply, begun_ms) {
    this.#abort.abort();
    this.#abort = new AbortController();
    /** @type {Reading} */
    const reading = { reply, begun_ms, first_ms: null, text: "", ended: false, hidden: document.hidden, failed: "", arrivals: [] };
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
    if (event.type === "error") reading.failed = sayFailure(event);
    if (event.type !== "delta") return;
    reading.text += event.text;
    const { begun_ms } = reading;
    if (begun_ms === null) return this.#draw(null);
    reading.arrivals.push({ at_ms: performance.now() - begun_ms, words: countWords(event.text), tokens: event.tokens, seq: event.seq });
    this.#draw(null);
    if (reading.arrivals.length > 1) return;
    afterPaint((stamp_ms) => {
      reading.first_ms = stamp_ms - begun_ms;
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
    this.#strip.element.hidden = !reading?.text || reading.begun_ms === null;
    const told = this.#words(line);
    if (told) setText(this.state, told);
  }

  /** @param {import("../rooms/room_frames.js").Line | null} line */
  #words(line) {
    const mine = this.#me?.sending;
    if (this.#pressed) return say("ownWaiting");
    if (this.#reading?.failed) return say("ownFailed", { why: this.#reading.failed });
    if (mine?.failure) return say("ownFailed", { why: sayFailure({ code: mine.failure_code, message: mine.failure }) });
    if (mine?.measure) return say("ownFirst", { time: spellTime(mine.measure.first_word_ms) });
    if (this.#reading?.first_ms != null) return say("ownFirst", { time: spellTime(this.#reading.first_ms) });
    const isOnItsWay = mine?.running || (this.#reading && !this.#reading.ended);
    if (this.#room?.sending?.mode === "own_time") return say(isOnItsWay ? "ownWaiting" : "ownPress");
    if (this.#reading) return "";
    if (mine && mine.place === null) return say("ownNotIn");
    return say("ownQueued", { count: Math.max(0, (mine?.place ?? 0) - (line?.begun ?? 0)) });
  }

  #forget() {
    this.#abort.abort();
    this.#reading = null;
    this.#pressed = null;
    this.#begun = 0;
    setText(this.text, "");
    setText(this.state, "");
  }
}
