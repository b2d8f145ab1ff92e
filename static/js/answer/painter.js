/**
 * From arrivals to paints: the first text goes to the screen at once, all further text at most once a
 * frame, and in a hidden tab (which has no frames) directly. Nothing waits longer than one frame, but
 * for what the reader chose: a piece may have a time before which it is not due (smoothed), and a
 * held painter paints nothing until it is let go; and a very long piece comes in slices, so that no
 * frame takes long. Stop drops what was not painted. It refuses to know what painting means: a `paint`
 * callback gets the text in order, exactly once, and how far it goes.
 *
 * @typedef {{ text: string, mark: number, due_ms: number }} Piece `mark`: the sequence number at its end
 * @typedef {object} Frames
 * @property {(tell: () => void) => number} request
 * @property {(id: number) => void} cancel
 * @property {() => boolean} hidden
 * @property {() => number} now
 */

import { SLICE_CHARS, sliceOf } from "./slices.js";

export class Painter {
  /** @type {Piece[]} */
  #pending = [];
  #painted = false;
  #dropped = false;
  #held = false;
  /** @type {number | null} */
  #frame = null;
  /** @type {(() => void) | null} */
  #whenEmpty = null;
  #paint;
  #frames;

  /**
   * @param {(text: string, mark: number | null) => void} paint null: in the middle of a piece
   * @param {Frames} frames
   */
  constructor(paint, frames = browserFrames) {
    this.#paint = paint;
    this.#frames = frames;
  }

  get isHeld() {
    return this.#held;
  }

  /** @returns {boolean} whether more is waiting than the next frame shows */
  get isBehind() {
    return this.#pending.reduce((sum, { text }) => sum + text.length, 0) > SLICE_CHARS;
  }

  /** @returns {number[]} marks of what has arrived and is not painted, in order */
  get waiting() {
    return this.#pending.map(({ mark }) => mark);
  }

  /** @param {string} text @param {number} [mark] @param {number} [due_ms] on the frames' clock */
  push(text, mark = 0, due_ms = 0) {
    if (this.#dropped) return;
    this.#pending.push({ text, mark, due_ms });
    if (this.#frames.hidden()) this.flush();
    else if (!this.#painted && due_ms === 0) this.#paintDue();
    else this.#ask();
  }

  /** Paint nothing until `release`: the reader pressed Pause. */
  hold() {
    this.#held = true;
  }

  release() {
    this.#held = false;
    this.flush();
  }

  /** Paint what is pending, due or not: at the end of a reply, or when the tab is hidden. */
  flush() {
    this.#paintDue(Infinity, Infinity);
  }

  /** Never paint again; what was pending is gone. The reader pressed Stop. */
  drop() {
    this.#dropped = true;
    this.#pending = [];
    this.#whenEmpty = null;
    this.#cancel();
  }

  /** @param {() => void} tell once everything that has arrived is painted; at once, if it is */
  whenEmpty(tell) {
    this.#whenEmpty = tell;
    this.#tellEmpty();
  }

  // Private

  #ask() {
    if (!this.#held) this.#frame ??= this.#frames.request(() => {
      this.#frame = null;
      this.#paintDue();
    });
  }

  #cancel() {
    if (this.#frame !== null) this.#frames.cancel(this.#frame);
    this.#frame = null;
  }

  /** @param {number} [now_ms] @param {number} [most] characters */
  #paintDue(now_ms = this.#frames.now(), most = SLICE_CHARS) {
    if (this.#held) return;
    this.#cancel();
    let text = "";
    /** @type {number | null} */
    let mark = null;
    for (let next = this.#pending[0]; next && next.due_ms <= now_ms && text.length < most; next = this.#pending[0]) {
      const slice = sliceOf(next.text, most - text.length);
      text += slice;
      next.text = next.text.slice(slice.length);
      if (next.text !== "") break;
      mark = next.mark;
      this.#pending.shift();
    }
    if (text !== "") {
      this.#painted = true;
      this.#paint(text, mark);
    }
    if (this.#pending.length > 0) this.#ask();
    this.#tellEmpty();
  }

  #tellEmpty() {
    if (this.#pending.length > 0) return;
    const tell = this.#whenEmpty;
    this.#whenEmpty = null;
    tell?.();
  }
}

/** Frames of the browser. @type {Frames} */
export const browserFrames = {
  request: (tell) => requestAnimationFrame(tell),
  cancel: (id) => cancelAnimationFrame(id),
  hidden: () => document.hidden,
  now: () => performance.now(),
};
