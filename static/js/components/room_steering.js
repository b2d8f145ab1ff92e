/**
 * The teacher's hand on a stimulus: stop it and let it go on, one piece further, slow motion. Stopping it is
 * freezing the room: there is one way for everything to stand still. The speed may be chosen beforehand.
 */

import { say } from "../words.js";
import { part, setText } from "./parts.js";

const SPEEDS = ["1", "0.5", "0.25", "0.1"];

export class RoomSteering {
  /** @param {HTMLElement} page @param {(command: object) => void} tell */
  constructor(page, tell) {
    this.root = part(page, "steering", HTMLElement);
    this.stop = part(page, "steer-stop", HTMLButtonElement);
    this.step = part(page, "steer-step", HTMLButtonElement);
    this.speed = part(page, "steer-speed", HTMLSelectElement);
    this.speed.append(...SPEEDS.map((speed) => new Option(say(`speed_${speed}`), speed)));
    this.stop.addEventListener("click", () => tell({ type: "hold", freeze: this.stop.getAttribute("aria-pressed") !== "true" }));
    this.step.addEventListener("click", () => tell({ type: "step" }));
    this.speed.addEventListener("change", () => tell({ type: "speed", speed: Number(this.speed.value) }));
  }

  /** @param {import("../rooms/room_frames.js").Room} room */
  show({ phase, round, frozen, closed }) {
    const runs = phase === "watch" && round?.stimulus?.state === "running";
    this.root.hidden = closed || (phase !== "predict" && phase !== "watch");
    this.stop.hidden = !runs;
    this.stop.setAttribute("aria-pressed", String(frozen));
    setText(this.stop, say(frozen ? "holdPlay" : "holdStop"));
    this.step.hidden = !runs || !frozen;
    this.speed.value = String(round?.speed ?? 1);
  }
}
