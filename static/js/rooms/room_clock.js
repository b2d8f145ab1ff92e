/**
 * The server's clock on this device: from pings, the one with the shortest way knows best. Until one has
 * come back there is no time here, and nothing that needs one is measured.
 */

import { betterPlaced, placeClock } from "../measure/clock.js";

export class RoomClock {
  /** @type {import("../measure/clock.js").Placed | null} */
  #placed = null;

  /** @param {() => number} [now_ms] this device's clock */
  constructor(now_ms = () => performance.now()) {
    this.now_ms = now_ms;
  }

  /** A ping has come back. @param {number} sent_ms on this clock @param {number} server_ms the server's answer */
  heard(sent_ms, server_ms) {
    const now = placeClock({ sent_ms, in_ms: server_ms, out_ms: server_ms, got_ms: this.now_ms() });
    this.#placed = betterPlaced(this.#placed, now);
  }

  /** Another server, another clock. */
  forget() {
    this.#placed = null;
  }

  get isPlaced() {
    return this.#placed !== null;
  }

  /** @returns {number} half the way there and back: how wrong this clock may be */
  get error_ms() {
    return this.#placed?.error_ms ?? 0;
  }

  /** @param {number} server_ms @returns {number} that moment on this device's clock */
  here_ms(server_ms) {
    return server_ms + (this.#placed?.zero_ms ?? NaN);
  }

  /**
   * Where a stimulus is: the teacher may have stopped it or slowed it down.
   * @param {import("./room_frames.js").Stimulus} stimulus
   * @param {number} [now_ms] on this device's clock
   * @returns {number} milliseconds since its beginning; NaN before the first ping
   */
  at_ms({ started_ms, playhead: { at_ms, since_ms, speed } }, now_ms = this.now_ms()) {
    return at_ms + (now_ms - this.here_ms(started_ms) - since_ms) * speed;
  }
}
