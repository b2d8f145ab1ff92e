/**
 * One slow reader's book: what has come, what has been read, and what stands between the two over
 * time. The reader takes whole deltas, as many as its speed has earned. Times are milliseconds after
 * the start. Pure.
 *
 * @typedef {{ at_ms: number, count: number }} Level tokens made and not yet read
 * @typedef {{ from_ms: number, to_ms: number | null }} Pause `to_ms` null: it goes on
 */

/** Points of one picture: more than a screen can show apart. */
const MAX_LEVELS = 4000;

export class Ledger {
  made = 0;
  read = 0;
  most = 0;
  pieces = 0;
  /** @type {Level[]} */
  levels = [{ at_ms: 0, count: 0 }];
  /** @type {Pause[]} */
  pauses = [];
  /** @type {{ seq: number, tokens: number }[]} */
  #waiting = [];
  #earned = 0;
  #advanced_ms = 0;

  get unread() {
    return this.made - this.read;
  }

  /** @param {{ seq: number, tokens: number }} delta @param {number} at_ms */
  come({ seq, tokens }, at_ms) {
    this.#waiting.push({ seq, tokens });
    this.made += tokens;
    this.pieces += 1;
    this.#note(at_ms);
  }

  /**
   * The reader has read on until now.
   * @param {number} at_ms @param {number} tokensPerSecond Infinity: it reads what there is
   * @returns {number | null} the last delta it has finished, where there is a new one
   */
  readOn(at_ms, tokensPerSecond) {
    const passed_ms = Math.max(0, at_ms - this.#advanced_ms);
    this.#advanced_ms = at_ms;
    this.#earned = this.#waiting.length ? this.#earned + (tokensPerSecond === Infinity ? Infinity : (tokensPerSecond * passed_ms) / 1000) : 0;
    let last = null;
    for (let next = this.#waiting[0]; next && next.tokens <= this.#earned; next = this.#waiting[0]) {
      this.#earned -= next.tokens;
      this.read += next.tokens;
      last = next.seq;
      this.#waiting.shift();
    }
    // Nobody reads ahead of what there is.
    if (!this.#waiting.length) this.#earned = 0;
    if (last !== null) this.#note(at_ms);
    return last;
  }

  /** @param {number} at_ms */
  pause(at_ms) {
    this.pauses.push({ from_ms: at_ms, to_ms: null });
  }

  /** @param {number} at_ms */
  goOn(at_ms) {
    const last = this.pauses.at(-1);
    if (last && last.to_ms === null) last.to_ms = at_ms;
  }

  /** @param {number} now_ms @returns {number} */
  pausedFor(now_ms) {
    return this.pauses.reduce((sum, { from_ms, to_ms }) => sum + (to_ms ?? now_ms) - from_ms, 0);
  }

  // Private

  /** @param {number} at_ms */
  #note(at_ms) {
    this.most = Math.max(this.most, this.unread);
    if (this.levels.length >= MAX_LEVELS) this.levels.pop();
    this.levels.push({ at_ms, count: this.unread });
  }
}

/**
 * Gaps between arrivals, told apart by whether somebody was paused when they ended.
 * @param {number[]} arrivals in milliseconds
 * @param {Pause[]} pauses of everybody
 * @returns {{ awake: number[], asleep: number[] }}
 */
export function gapsByPause(arrivals, pauses) {
  /** @type {{ awake: number[], asleep: number[] }} */
  const gaps = { awake: [], asleep: [] };
  arrivals.slice(1).forEach((at_ms, i) => {
    const paused = pauses.some(({ from_ms, to_ms }) => from_ms < at_ms && at_ms <= (to_ms ?? Infinity));
    gaps[paused ? "asleep" : "awake"].push(at_ms - /** @type {number} */ (arrivals[i]));
  });
  return gaps;
}
