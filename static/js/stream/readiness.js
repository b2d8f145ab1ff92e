/**
 * Is the model loaded? Asks /readyz until it is, once a second, and tells what the server says
 * meanwhile. An unreachable server is "away", which is also not ready.
 *
 * @typedef {{ state: string, detail: string, progress: number | null }} Answer
 */

const EVERY_MS = 1000;

export class Readiness {
  isReady = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #asking = false;

  /** @param {string} address of /readyz @param {(readiness: Answer) => void} tell */
  constructor(address, tell) {
    this.address = address;
    this.tell = tell;
  }

  /** Ask now, and go on asking until it is ready. */
  async watch() {
    if (this.#asking) return;
    this.#asking = true;
    clearTimeout(this.#timer);
    const readiness = await this.#ask();
    this.#asking = false;
    this.isReady = readiness.state === "ready";
    if (!this.isReady) this.#timer = setTimeout(() => this.watch(), EVERY_MS);
    this.tell(readiness);
  }

  // Private

  /** @returns {Promise<Answer>} */
  async #ask() {
    try {
      const response = await fetch(this.address, { cache: "no-store" });
      const body = await response.json();
      return {
        state: response.ok ? "ready" : String(body.state ?? "loading"),
        detail: String(body.detail ?? ""),
        progress: typeof body.progress === "number" ? body.progress : null,
      };
    } catch {
      return { state: "away", detail: "", progress: null };
    }
  }
}
