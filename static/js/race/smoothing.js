/**
 * Even pacing on the reader's side: text is kept back a little, so that it can be shown at an even
 * rate although it arrives in bursts. That is added latency, and the page says so. The plan looks at
 * the past only, as a live page must; the same arrivals always give the same plan. Pure.
 */

/** The first text is kept back so long; later text at most twice that. */
export const HELD_MS = 250;
/** How fast the mean gap follows the real ones. */
const FOLLOW = 0.2;

export class Smoother {
  #at_ms = 0;
  #shown_ms = -1;
  #gap_ms = 0;

  /** @param {number} at_ms when the next text arrived, never before the last @returns {number} when it is shown */
  next(at_ms) {
    if (this.#shown_ms < 0) this.#shown_ms = at_ms + HELD_MS;
    else {
      const gap_ms = at_ms - this.#at_ms;
      this.#gap_ms = this.#gap_ms === 0 ? gap_ms : this.#gap_ms + FOLLOW * (gap_ms - this.#gap_ms);
      const even_ms = this.#shown_ms + this.#gap_ms;
      this.#shown_ms = Math.min(Math.max(even_ms, at_ms), at_ms + 2 * HELD_MS);
    }
    this.#at_ms = at_ms;
    return this.#shown_ms;
  }
}
