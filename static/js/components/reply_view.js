/**
 * One reply on the page: its mode, the running clock while there is nothing to read, the text, the
 * strip, the numbers, and what can be done with it. `update` shows the reply's record as it is now, as
 * often as one likes; text alone comes piece by piece through `paint`. While a reply moves it can be
 * paused: then nothing in it changes until it is let go on.
 */

import { Answer } from "../answer/answer.js";
import { numbersOf } from "../measure/numbers.js";
import { spellClock } from "../measure/spelling.js";
import { wordsReadIn } from "../measure/words_read.js";
import { isLive } from "../chat/reply.js";
import { say } from "../words.js";
import { mountCopy } from "./clipboard.js";
import { mountDeeper } from "./deeper.js";
import { mountNumbers } from "./numbers.js";
import { fromTemplate, part, setText } from "./parts.js";
import { marksOf, notesOf } from "./reply_notes.js";
import { Strip } from "./strip.js";

/** @typedef {import("../chat/reply.js").Reply} Reply */

/** Strip and numbers look at all arrivals: so often is enough, and cheap for long replies. */
const DRAW_EVERY_MS = 200;
const CLOCK_EVERY_MS = 100;

export class ReplyView {
  #drawn_ms = -Infinity;
  #held = false;
  /** The last paint that `measured` was said of. @type {number | null} */
  #told = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;
  /** Set by whoever paints here: the reader pauses, or lets go on. @type {((held: boolean) => void) | undefined} */
  onHold;

  /**
   * @param {Reply} reply
   * @param {import("../answer/libraries.js").Marked | null} marked
   * @param {{ elapsed(): number, waitsForModel(): boolean }} time
   */
  constructor(reply, marked, time) {
    this.reply = reply;
    this.time = time;
    this.element = fromTemplate("reply-template");
    this.element.dataset.reply = reply.id;
    this.parts = partsOf(this.element);
    this.answer = new Answer(part(this.element, "answer", HTMLElement), marked, codeParts, codeName);
    this.numbers = mountNumbers(this.element);
    this.deeper = mountDeeper(this.element, reply);
    this.strip = new Strip();
    part(this.element, "strip", HTMLElement).append(this.strip.element);
    setText(part(this.element, "mode", HTMLElement), say(reply.mode));
    this.element.dataset.mode = reply.mode;
    this.element.setAttribute("aria-label", say("replyBy", { mode: say(reply.mode) }));
    mountCopy(this.parts.copy, () => reply.text);
    this.parts.again.addEventListener("click", (event) => {
      const detail = { reply: reply.id, at_ms: performance.now() };
      event.currentTarget?.dispatchEvent(new CustomEvent("again", { bubbles: true, detail }));
    });
    this.parts.hold.addEventListener("click", () => this.#hold(!this.#held));
  }

  /** Show what the reply has already: one that was stored, or begun elsewhere. */
  restore() {
    if (this.reply.text) this.answer.restore(this.reply.text);
    if (this.reply.ended_ms !== null) this.answer.finish();
    this.update();
  }

  /** @param {string} text */
  paint(text) {
    this.answer.append(text);
  }

  finish() {
    this.answer.finish();
  }

  update() {
    const { reply } = this;
    const live = isLive(reply);
    if (!live) this.#held = false;
    this.element.dataset.state = reply.state;
    this.#showWaiting();
    this.#showOutcome();
    this.#draw();
    this.#showActions(live);
    this.deeper.update();
    if (live || reply.lastPaint_ms === this.#told) return;
    this.#told = reply.lastPaint_ms;
    this.element.dispatchEvent(new CustomEvent("measured", { bubbles: true }));
  }

  // Private

  /** @param {boolean} held */
  #hold(held) {
    this.#held = held;
    this.onHold?.(held);
    this.update();
  }

  /** @param {boolean} live */
  #showActions(live) {
    const hold = this.parts.hold;
    // A button that vanishes under the focus would throw a keyboard user back to the top.
    const hadFocus = !live && document.activeElement === hold;
    hold.hidden = !live;
    hold.setAttribute("aria-pressed", String(this.#held));
    setText(this.parts.holdLabel, say(this.#held ? "holdEnd" : "hold"));
    this.parts.heldNote.hidden = !this.#held;
    this.element.dataset.held = String(this.#held);
    this.parts.copy.hidden = live || this.reply.text === "";
    this.parts.again.hidden = live;
    setText(this.parts.againLabel, say(this.reply.state === "failed" || this.reply.flags.away ? "retry" : "again"));
    if (hadFocus) this.parts.again.focus();
  }

  /** While nothing can be read a clock runs; it is no live region, so nobody has to listen to it. */
  #showWaiting() {
    const waits = isLive(this.reply) && this.reply.arrivals.length === 0 && this.reply.text === "";
    this.parts.waiting.hidden = !waits;
    if (isLive(this.reply)) this.#clock ??= setInterval(() => this.#tick(), CLOCK_EVERY_MS);
    else {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
    if (waits) this.#tick();
  }

  #tick() {
    if (this.#held) return;
    if (this.reply.text !== "") return this.#draw();
    const elapsed = this.time.elapsed();
    setText(this.parts.clock, spellClock(elapsed));
    setText(this.parts.could, say("couldHaveRead", { count: wordsReadIn(elapsed) }));
    setText(this.parts.phase, this.#phase());
    this.#draw();
  }

  #phase() {
    const { state, position, mode } = this.reply;
    if (this.time.waitsForModel()) return say("loadingFirst");
    if (state === "asking") return say("sending");
    if (state === "queued") return position > 0 ? say("inLine", { count: position }) : say("nextInLine");
    return say(mode === "whole" ? "writing" : "readingPrompt");
  }

  #showOutcome() {
    const { state, error, text } = this.reply;
    const why = state === "failed" ? say("interrupted", { why: error?.message || error?.code || "?" }) : "";
    const alert = this.parts.alert;
    setText(alert, why && text ? `${why} ${say("keptText")}` : why);
    alert.hidden = why === "";
    const note = this.parts.note;
    // That the model waits for a paused page stands beside the button already.
    setText(note, notesOf(this.#held ? { ...this.reply, waits: null } : this.reply).join(" "));
    note.hidden = note.textContent === "";
    setText(this.parts.marks, marksOf(this.reply).map((mark) => ` · ${mark}`).join(""));
  }

  #draw() {
    const { reply } = this;
    const live = isLive(reply);
    const drawn_ms = performance.now();
    if (live && (this.#held || drawn_ms - this.#drawn_ms < DRAW_EVERY_MS)) return;
    this.#drawn_ms = drawn_ms;
    this.strip.show({ ...reply, now_ms: live ? this.time.elapsed() : endOf(reply), ended: !live });
    // While more may come, nobody knows the last word.
    const lastPaint_ms = live ? null : reply.lastPaint_ms;
    this.numbers.update(numbersOf({ ...reply, lastPaint_ms, decode_ms: reply.timings?.decode_ms ?? null }));
  }
}

// Private

/** Found once: a search through the text of a long answer, at every piece, would cost more than the text.
 * @param {HTMLElement} root */
function partsOf(root) {
  return {
    copy: part(root, "copy", HTMLButtonElement),
    again: part(root, "again", HTMLButtonElement),
    hold: part(root, "hold", HTMLButtonElement),
    holdLabel: part(root, "hold-label", HTMLElement),
    heldNote: part(root, "held-note", HTMLElement),
    againLabel: part(root, "again-label", HTMLElement),
    waiting: part(root, "waiting", HTMLElement),
    clock: part(root, "clock", HTMLElement),
    could: part(root, "could", HTMLElement),
    phase: part(root, "phase", HTMLElement),
    alert: part(root, "alert", HTMLElement),
    note: part(root, "note", HTMLElement),
    marks: part(root, "marks", HTMLElement),
  };
}

/** @param {Reply} reply @returns {number} when it was over for the reader */
function endOf({ arrivals, lastPaint_ms, ended_ms }) {
  const last = arrivals.at(-1);
  return last ? Math.max(lastPaint_ms ?? 0, last.at_ms) : (ended_ms ?? 0);
}

function codeParts() {
  const frame = fromTemplate("code-template");
  const pre = part(frame, "pre", HTMLElement);
  const label = part(frame, "language", HTMLElement);
  mountCopy(part(frame, "copy-code", HTMLButtonElement), () => pre.textContent ?? "");
  return { frame, pre, label };
}

/** @param {string} language */
function codeName(language) {
  return language || say("plainCode");
}
