/**
 * The line on a phone that says that a press was not taken, and why: at once, until the next press or until
 * the room goes on.
 */

import { momentOf, refusalWord } from "../rooms/refusals.js";
import { say } from "../words.js";
import { setText } from "./parts.js";

/** @typedef {import("../rooms/room_frames.js").Room} Room */

export class RoomRefusal {
  #moment = "";

  /** @param {HTMLElement} line */
  constructor(line) {
    this.line = line;
  }

  /** The server has not taken it. @param {import("../rooms/room_frames.js").Refusal} refusal @param {Room | null} room */
  hear(refusal, room) {
    const word = refusalWord(refusal, room);
    if (word) this.#tell(say(word, { code: refusal.code }), room);
  }

  /** Nobody was there to take it. @param {Room | null} room */
  unheard(room) {
    this.#tell(say("refusedOffline"), room);
  }

  /** @param {Room} room */
  show(room) {
    if (momentOf(room) !== this.#moment) this.clear();
  }

  clear() {
    setText(this.line, "");
  }

  // Private

  /** @param {string} words @param {Room | null} room */
  #tell(words, room) {
    this.#moment = momentOf(room);
    setText(this.line, words);
  }
}
