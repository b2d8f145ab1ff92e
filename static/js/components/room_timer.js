/**
 * The console's clock: how long this phase has lasted, against a time that the teacher may add to. It closes
 * nothing itself. A vote that the room closes by its own rule counts down here, and is given more time there.
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
  /** When the open vote closes, on this device's clock. @type {number | null} */
  #closes_ms = null;

  /** @param {HTMLElement} page @param {(command: object) => void} tell */
  constructor(page, tell) {
    this.page = page;
    part(page, "timer-more", HTMLButtonElement).addEventListener("click", () => {
      if (this.#closes_ms !== null) return tell({ type: "more_time" });
      this.#limit_s = Math.max(this.#limit_s ?? 0, Math.floor((performance.now() - this.#since_ms) / 1000)) + MORE_S;
      this.#draw();
    });
    setInterval(() => this.#draw(), 500);
  }

  /** @param {import("../rooms/room_frames.js").Room} room @param {import("../rooms/room_clock.js").RoomClock} clock */
  show({ phase, round }, clock) {
    const closes_ms = phase === "vote" && clock.isPlaced ? (round?.closes_ms ?? null) : null;
    this.#closes_ms = closes_ms === null ? null : clock.here_ms(closes_ms);
    if (phase !== this.#phase) {
      this.#phase = phase;
      this.#since_ms = performance.now();
      this.#limit_s = USUAL_S[phase] ?? null;
    }
    this.#draw();
  }

  // Private

  #draw() {
    const gone_s = Math.floor((performance.now() - this.#since_ms) / 1000);
    const limit_s = this.#limit_s;
    setText(part(this.page, "timer", HTMLElement), spell(gone_s));
    const closing_s = this.#closes_ms === null ? null : Math.max(0, Math.ceil((this.#closes_ms - performance.now()) / 1000));
    const note = part(this.page, "timer-note", HTMLElement);
    note.classList.toggle("over", closing_s !== null || (limit_s !== null && gone_s >= limit_s));
    if (closing_s !== null) setText(note, say("closesIn", { count: closing_s }));
    else setText(note, limit_s === null ? "" : say(gone_s >= limit_s ? "timerOver" : "timerLeft", { time: spell(limit_s) }));
    part(this.page, "timer-more", HTMLButtonElement).hidden = limit_s === null;
  }
}

// Private

/** @param {number} seconds */
const spell = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
