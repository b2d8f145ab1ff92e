/**
 * From arrivals to paints: the first text goes to the screen at once, all further text at most once a
 * frame, and in a hidden tab (which has no frames) directly. Nothing waits longer than one frame, and
 * Stop drops what was not painted yet. It refuses to know what painting means: a `paint` callback
 * gets the text in order, exactly once.
 */

export class Painter {
  #pending = "";
  #painted = false;
  #dropped = false;
  /** @type {number | null} */
  #frame = null;
  #paint;
  #frames;

  /**
   * @param {(text: string) => void} paint
   * @param {{ request(tell: () => void): number, cancel(id: number): void, hidden(): boolean }} frames
   */
  constructor(paint, frames = browserFrames) {
    this.#paint = paint;
    this.#frames = frames;
  }

  /** @param {string} text */
  push(text) {
    if (this.#dropped) return;
    this.#pending += text;
    if (!this.#painted || this.#frames.hidden()) this.flush();
    else this.#frame ??= this.#frames.request(() => this.flush());
  }

  /** Paint what is pending now: at the end of a reply, or when the tab is hidden. */
  flush() {
    if (this.#frame !== null) this.#frames.cancel(this.#frame);
    this.#frame = null;
    const text = this.#pending;
    if (text === "") return;
    this.#pending = "";
    this.#painted = true;
    this.#paint(text);
  }

  /** Never paint again; what was pending is gone. The reader pressed Stop. */
  drop() {
    this.#dropped = true;
    this.#pending = "";
    this.flush();
  }
}

/** Frames of the browser. */
export const browserFrames = {
  /** @param {() => void} tell */
  request: (tell) => requestAnimationFrame(tell),
  /** @param {number} id */
  cancel: (id) => cancelAnimationFrame(id),
  hidden: () => document.hidden,
};
