/**
 * "Smoothed": text is kept back a little, so that it can be shown at an even rate although it arrives
 * in bursts. That is added latency, so what it added is counted and said. Each plan looks at the past
 * only, as a live page must. Pure.
 *
 * @typedef {{ first_ms: number, mean_ms: number, longest_ms: number, pieces: number }} Added
 */

/** The first text is kept back so long; later text at most twice that. */
export const HELD_MS = 250;
/** How fast the even gap follows the real ones. */
const FOLLOW = 0.2;

export class EvenPace {
  #came_ms = 0;
  /** @type {number | null} */
  #due_ms = null;
  /** @type {number | null} */
  #gap_ms = null;

  /** @param {number} at_ms a piece came now, never before the last @returns {number} when to show it */
  due(at_ms) {
    if (this.#due_ms === null) this.#due_ms = at_ms + HELD_MS;
    else {
      const gap_ms = at_ms - this.#came_ms;
      this.#gap_ms = this.#gap_ms === null ? gap_ms : this.#gap_ms + FOLLOW * (gap_ms - this.#gap_ms);
      this.#due_ms = Math.min(Math.max(this.#due_ms + this.#gap_ms, at_ms), at_ms + 2 * HELD_MS);
    }
    this.#came_ms = at_ms;
    return this.#due_ms;
  }
}

/** @param {Added | null | undefined} before @param {number} held_ms of one more piece @returns {Added} */
export function withDelay(before, held_ms) {
  if (!before) return { first_ms: held_ms, mean_ms: held_ms, longest_ms: held_ms, pieces: 1 };
  const pieces = before.pieces + 1;
  return {
    first_ms: before.first_ms, pieces,
    mean_ms: before.mean_ms + (held_ms - before.mean_ms) / pieces,
    longest_ms: Math.max(before.longest_ms, held_ms),
  };
}
