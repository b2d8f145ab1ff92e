/**
 * "Everybody sends now", on the wall: how the class's first words spread, and what the engine does: how
 * many answers share a step, how many wait. Students' texts are not shown here.
 *
 * @typedef {import("../rooms/room_frames.js").Room} Room
 * @typedef {import("../rooms/room_frames.js").Sending} Sending
 */

import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { element, part, setText } from "./parts.js";
import { RoomSpread } from "./room_spread.js";

export class WallSending {
  /** @type {import("../rooms/room_frames.js").Line | null} */
  #line = null;
  /** @type {import("../rooms/room_frames.js").EngineStep | null} */
  #step = null;
  /** @type {Sending | null} */
  #sending = null;
  #most = 0;
  #phase = "";

  /** @param {HTMLElement} page */
  constructor(page) {
    this.page = page;
    this.spread = new RoomSpread(part(page, "class-spread", HTMLElement));
    this.numbers = part(page, "numbers", HTMLElement);
  }

  /** @param {Room} room @param {Sending} sending */
  show(room, sending) {
    if (this.#sending?.id !== sending.id) this.#line = this.#step = null, (this.#most = 0);
    this.#sending = sending;
    this.#phase = room.phase;
    const isCollecting = room.phase === "collect";
    const title = isCollecting ? (sending.prompt ? "collectCommon" : "collectTitle") : room.phase === "results" ? "sendingMeasured" : `sending_${sending.mode}`;
    setText(part(this.page, "sending-title", HTMLElement), say(title));
    setText(part(this.page, "sending-asked", HTMLElement), sending.prompt ?? "");
    part(this.page, "class-spread", HTMLElement).hidden = isCollecting;
    const measured = sending.distribution ?? [];
    this.spread.show(measured.map(([first_ms]) => first_ms), measured.flatMap(([, server_ms]) => (server_ms === null ? [] : [server_ms])));
    this.#draw();
  }

  /** @param {import("../rooms/room_frames.js").Line | import("../rooms/room_frames.js").EngineStep} frame */
  hear(frame) {
    if (frame.type === "line") this.#line = frame;
    else this.#step = frame, (this.#most = Math.max(this.#most, frame.batch));
    this.#draw();
  }

  // Private

  #draw() {
    const sending = this.#sending;
    if (!sending) return;
    /** @type {[string, string | number][]} */
    const rows = [];
    if (this.#phase === "collect") {
      if (!sending.prompt) rows.push([say("collectCount", { count: sending.num_prompts ?? 0 }), sending.num_prompts ?? 0]);
    } else {
      const line = this.#line?.sending === sending.id ? this.#line : null;
      if (line) rows.push([say("numberLine"), Math.max(0, sending.num_line - line.begun)], [say("numberBegun"), line.begun], [say("numberEnded"), line.ended]);
      if (this.#step && this.#phase === "sending") rows.push([say("numberBatch", { most: this.#most }), this.#step.batch], [say("numberStep"), spellTime(this.#step.step_ms)]);
      rows.push([say("numberMeasured"), sending.num_measured ?? 0]);
    }
    this.numbers.replaceChildren(...rows.flatMap(([name, value]) => [element("div", "", element("dd", "", String(value)), element("dt", "", name))]));
  }
}
