/**
 * What this phone really showed of a stimulus: when each lane's first text was painted, and whether the
 * page was hidden between the beginning and the vote. Told at once, and again after a reconnection; the
 * server keeps the first of each. It refuses to know how paints are clocked.
 *
 * @typedef {import("./room_frames.js").Room} Room
 */

export class Sight {
  #stimulus = "";
  #round = 0;
  /** @type {Record<string, number>} */
  #painted = {};
  #hidden = false;
  #isOpen = false;

  /** @param {(command: object) => unknown} say @param {() => number} error_ms of the clock */
  constructor(say, error_ms) {
    this.say = say;
    this.error_ms = error_ms;
  }

  /** @param {Room} room @param {boolean} isWatcher @param {boolean} hidden the page is, now */
  show({ phase, round }, isWatcher, hidden) {
    const id = round?.stimulus?.id ?? "";
    if (id !== this.#stimulus) {
      this.#stimulus = id;
      this.#round = round?.id ?? 0;
      this.#painted = {};
      this.#hidden = false;
    }
    const counts = round?.mirror === true && (phase === "watch" || round.ballot === "vote");
    this.#isOpen = id !== "" && isWatcher && counts;
    if (hidden) this.hide();
  }

  /** @param {string} lane @param {number} since_ms */
  paint(lane, since_ms) {
    this.#painted[lane] ??= Math.max(0, Math.round(since_ms * 10) / 10);
    this.tell();
  }

  /** The page is out of sight. */
  hide() {
    if (!this.#isOpen || this.#hidden) return;
    this.#hidden = true;
    this.tell();
  }

  tell() {
    if (!this.#isOpen || (!this.#hidden && Object.keys(this.#painted).length === 0)) return;
    this.say({
      type: "seen", round: this.#round, stimulus: this.#stimulus, first_paint_ms: this.#painted, hidden: this.#hidden,
      clock_error_ms: Math.round(this.error_ms() * 10) / 10,
    });
  }
}
