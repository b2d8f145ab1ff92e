/**
 * The verdict on the stage: before the race an invitation, during it a calm word, and when all of it
 * has been seen the sentence, said once to a screen reader too.
 */

import { verdictOn } from "../race/verdict.js";
import { say } from "../words.js";
import { part, setText } from "./parts.js";

export class VerdictLine {
  #told = false;

  /** @param {HTMLElement} root @param {(text: string) => void} announce */
  constructor(root, announce) {
    this.same = part(root, "verdict-same", HTMLElement);
    this.sooner = part(root, "verdict-sooner", HTMLElement);
    this.notes = part(root, "verdict-notes", HTMLElement);
    this.announce = announce;
  }

  /** A new race: nothing has been said. */
  reset() {
    this.#told = false;
  }

  /** @param {"idle" | "running" | "over"} state @param {import("../race/lane.js").Lane[]} lanes */
  show(state, lanes) {
    const verdict = state === "over" ? verdictOn(lanes) : null;
    setText(this.same, verdict ? verdict.same : say(state === "idle" ? "invitation" : "running"));
    setText(this.sooner, verdict?.sooner ?? "");
    setText(this.notes, verdict?.notes.join(" ") ?? "");
    if (verdict && !this.#told) {
      this.#told = true;
      this.announce(`${verdict.same} ${verdict.sooner}`);
    }
  }
}
