/**
 * One reply on the page: its mode, the running clock while there is nothing to read, the text, the
 * strip, the numbers, and what can be done with it. `update` shows the reply's record as it is now, as
 * often as one likes; text alone comes piece by piece through `paint`.
 */

import { Answer } from "../answer/answer.js";
import { numbersOf } from "../measure/numbers.js";
import { spellClock } from "../measure/spelling.js";
import { wordsReadIn } from "../measure/words_read.js";
import { isLive } from "../chat/reply.js";
import { say } from "../words.js";
import { mountCopy } from "./clipboard.js";
import { mountNumbers } from "./numbers.js";
import { fromTemplate, part, setText } from "./parts.js";
import { Strip } from "./strip.js";

/** @typedef {import("../chat/reply.js").Reply} Reply */

/** The strip is a picture, not a clock: so often is enough, and cheap for long replies. */
const STRIP_EVERY_MS = 200;
const CLOCK_EVERY_MS = 100;

export class ReplyView {
  #stripDrawn_ms = -Infinity;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #clock;

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
    this.answer = new Answer(part(this.element, "answer", HTMLElement), marked, codeParts, codeName);
    this.numbers = mountNumbers(this.element);
    this.strip = new Strip();
    part(this.element, "strip", HTMLElement).append(this.strip.element);
    setText(part(this.element, "mode", HTMLElement), say(reply.mode));
    this.element.dataset.mode = reply.mode;
    this.element.setAttribute("aria-label", say("replyBy", { mode: say(reply.mode) }));
    mountCopy(part(this.element, "copy", HTMLButtonElement), () => reply.text);
    part(this.element, "again", HTMLButtonElement).addEventListener("click", (event) => {
      const detail = { reply: reply.id, at_ms: performance.now() };
      event.currentTarget?.dispatchEvent(new CustomEvent("again", { bubbles: true, detail }));
    });
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
    this.element.dataset.state = reply.state;
    this.#showWaiting();
    this.#showOutcome();
    this.#drawStrip();
    this.numbers.update(numbersOf({ ...reply, decode_ms: reply.timings?.decode_ms ?? null }));
    for (const name of ["copy", "again"]) part(this.element, name, HTMLButtonElement).hidden = isLive(reply);
    part(this.element, "copy", HTMLButtonElement).hidden ||= reply.text === "";
    const again = part(this.element, "again-label", HTMLElement);
    setText(again, say(reply.state === "failed" ? "retry" : "again"));
  }

  // Private

  /** While nothing can be read a clock runs; it is no live region, so nobody has to listen to it. */
  #showWaiting() {
    const waits = isLive(this.reply) && this.reply.arrivals.length === 0 && this.reply.text === "";
    part(this.element, "waiting", HTMLElement).hidden = !waits;
    if (isLive(this.reply)) this.#clock ??= setInterval(() => this.#tick(), CLOCK_EVERY_MS);
    else {
      clearInterval(this.#clock);
      this.#clock = undefined;
    }
    if (waits) this.#tick();
  }

  #tick() {
    if (this.reply.text !== "") return this.#drawStrip();
    const elapsed = this.time.elapsed();
    setText(part(this.element, "clock", HTMLElement), spellClock(elapsed));
    setText(part(this.element, "could", HTMLElement), say("couldHaveRead", { count: wordsReadIn(elapsed) }));
    setText(part(this.element, "phase", HTMLElement), this.#phase());
    this.#drawStrip();
  }

  #phase() {
    const { state, position, mode } = this.reply;
    if (this.time.waitsForModel()) return say("loadingFirst");
    if (state === "asking") return say("sending");
    if (state === "queued") return position > 0 ? say("inLine", { count: position }) : say("nextInLine");
    return say(mode === "whole" ? "writing" : "readingPrompt");
  }

  #showOutcome() {
    const { state, error, finish, text, flags } = this.reply;
    const why = state === "failed" ? say("interrupted", { why: error?.message || error?.code || "?" }) : "";
    const alert = part(this.element, "alert", HTMLElement);
    setText(alert, why && text ? `${why} ${say("keptText")}` : why);
    alert.hidden = why === "";
    const notes = [
      state === "stopped" && say("stopped"),
      state === "done" && finish === "length" && say("cutOff"),
      state === "done" && text.trim() === "" && say("emptyReply"),
      flags.hidden && say("hiddenFlag"),
      flags.resumed && say("resumedFlag"),
      flags.reconnected && say("reconnectedFlag"),
    ].filter(Boolean);
    const note = part(this.element, "note", HTMLElement);
    setText(note, notes.join(" "));
    note.hidden = notes.length === 0;
  }

  #drawStrip() {
    const { arrivals } = this.reply;
    const live = isLive(this.reply);
    const now_ms = live ? this.time.elapsed() : endOf(this.reply);
    const drawn = performance.now();
    if (live && drawn - this.#stripDrawn_ms < STRIP_EVERY_MS) return;
    this.#stripDrawn_ms = drawn;
    this.strip.show({ arrivals, now_ms, ended: !live });
  }
}

// Private

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
