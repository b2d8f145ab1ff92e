/**
 * Does the model stand still? Asks /readyz about it while a reply is on its way of which nothing comes, and
 * tells for how long no step of the model has ended; null when one has. A question without an answer says
 * nothing about the model: who is not reached is the connection's business.
 */

const EVERY_MS = 2000;
/** The server calls a step stalled after as long. */
const SILENCE_MS = 5000;

export class StallWatch {
  #told = false;

  /**
   * @param {string} address of /readyz
   * @param {() => number} silence_ms how long nothing has come of a reply that is on its way
   * @param {(stalled_s: number | null) => void} tell
   */
  constructor(address, silence_ms, tell) {
    this.address = address;
    this.silence_ms = silence_ms;
    this.tell = tell;
    setInterval(() => this.#look(), EVERY_MS);
  }

  // Private

  async #look() {
    const stalled_s = this.silence_ms() < SILENCE_MS ? null : await this.#ask();
    if (stalled_s === null && !this.#told) return;
    this.#told = stalled_s !== null;
    this.tell(stalled_s);
  }

  /** @returns {Promise<number | null>} */
  async #ask() {
    try {
      const response = await fetch(this.address, { cache: "no-store", signal: AbortSignal.timeout(EVERY_MS) });
      const { stalled_s } = await response.json();
      return typeof stalled_s === "number" ? stalled_s : null;
    } catch {
      return null;
    }
  }
}
