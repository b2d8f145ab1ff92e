/**
 * The console's clock: how long this phase has lasted, against a time that the teacher sets and may add to.
 * It closes nothing: nobody loses a vote to a clock.
 */

import { say } from "../words.js";
import { part, setText } from "./parts.js";

/** What the lesson plan allows, in seconds. @type {Partial<Record<string, number>>} */
const USUAL_S = { predict: 60, vote: 60, discuss: 120, collect: 90 };
const MORE_S = 20;

export class RoomTimer {
  #phase = "";
  #since_ms = performance.now();
  /** @type {number | null} */
  #limit_s = null;

  /** @param {HTMLElement} page */
  constructor(page) {
    this.page = page;
    part(page, "timer-more", HTMLButtonElement).addEventListener("click", () => {
      this.#limit_s = Math.max(this.#limit_s ?? 0, Math.floor((performance.now() - this.#since_ms) / 1000)) + MORE_S;
      this.#draw();
    });
    setInterval(() => this.#draw(), 500);
  }

  /** @param {string} phase */
  show(phase) {
    if (phase === this.#phase) return;
    this.#phase = phase;
    this.#since_ms = performance.now();
    this.#limit_s = USUAL_S[phase] ?? null;
    this.#draw();
  }

  // Private

  #draw() {
    const gone_s = Math.floor((performance.now() - this.#since_ms) / 1000);
    const limit_s = this.#limit_s;
    setText(part(this.page, "timer", HTMLElement), spell(gone_s));
    const note = part(this.page, "timer-note", HTMLElement);
    note.classList.toggle("over", limit_s !== null && gone_s >= limit_s);
    setText(note, limit_s === null ? "" : say(gone_s >= limit_s ? "timerOver" : "timerLeft", { time: spell(limit_s) }));
    part(this.page, "timer-more", HTMLButtonElement).hidden = limit_s === null;
  }
}

// Private

/** @param {number} seconds */
const spell = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
