/**
 * A reader who has paused the page is not gone. The server ends a reply whose reader does not move for
 * ten seconds, so while the page is held one piece more is acknowledged every few seconds, although it
 * is not shown: the model goes on at a crawl, and what it makes waits here.
 */

const EVERY_MS = 4000;

export class SignsOfLife {
  #told = -1;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #timer;

  /**
   * @param {() => number[]} waiting marks of the pieces that are not shown, in order
   * @param {(mark: number) => void} tell
   * @param {{ every(tell: () => void, ms: number): any, cancel(timer: any): void }} [timers]
   */
  constructor(waiting, tell, timers = browserTimers) {
    this.waiting = waiting;
    this.tell = tell;
    this.timers = timers;
  }

  /** @param {boolean} held begin with it, or end it */
  show(held) {
    this.timers.cancel(this.#timer);
    this.#timer = held ? this.timers.every(() => this.#breathe(), EVERY_MS) : undefined;
  }

  // Private

  #breathe() {
    const next = this.waiting().find((mark) => mark > this.#told);
    if (next === undefined) return;
    this.#told = next;
    this.tell(next);
  }
}

// Private

const browserTimers = {
  /** @param {() => void} tell @param {number} ms */
  every: (tell, ms) => setInterval(tell, ms),
  /** @param {any} timer */
  cancel: (timer) => clearInterval(timer),
};
