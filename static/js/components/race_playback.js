/**
 * The controls of time: pause, steps, a handle to drag, the speed. The same for a live race and for a
 * recording. It shows what it is told and tells what was wanted; it decides nothing.
 *
 * @typedef {import("../race/keys.js").Action} Action
 * @typedef {{ at_ms: number, edge_ms: number, playing: boolean, speed: number, live: boolean, behind: boolean,
 *   canPlay: boolean, canBegin: boolean, recording: string | null }} Moment
 */

import { SPEEDS } from "../race/playhead.js";
import { spellClock } from "../measure/spelling.js";
import { say } from "../words.js";
import { part, setText } from "./parts.js";

export class Playback {
  /**
   * @param {HTMLElement} root
   * @param {{ act(action: Action): void, seek(at_ms: number): void, toLive(): void }} tell
   */
  constructor(root, tell) {
    this.root = root;
    this.play = part(root, "play", HTMLButtonElement);
    this.playLabel = part(root, "play-label", HTMLElement);
    this.back = part(root, "step-back", HTMLButtonElement);
    this.on = part(root, "step-on", HTMLButtonElement);
    this.scrub = part(root, "scrub", HTMLInputElement);
    this.moment = part(root, "moment", HTMLElement);
    this.speed = part(root, "speed", HTMLSelectElement);
    this.mark = part(root, "mark", HTMLElement);
    this.toLive = part(root, "to-live", HTMLButtonElement);
    this.speed.replaceChildren(...SPEEDS.map((speed) => new Option(say("speedValue", { value: speed }), String(speed), speed === 1, speed === 1)));
    this.play.addEventListener("click", () => tell.act("pause"));
    this.back.addEventListener("click", () => tell.act("back"));
    this.on.addEventListener("click", () => tell.act("on"));
    this.speed.addEventListener("change", () => tell.act({ speed: Number(this.speed.value) }));
    this.scrub.addEventListener("input", () => tell.seek(Number(this.scrub.value)));
    this.toLive.addEventListener("click", () => tell.toLive());
  }

  /** @param {Moment} now */
  show({ at_ms, edge_ms, playing, speed, live, behind, canPlay, canBegin, recording }) {
    const atEnd = !live && at_ms >= edge_ms;
    for (const control of [this.back, this.on, this.scrub]) control.disabled = !canPlay;
    this.play.disabled = !canPlay && !canBegin;
    this.root.dataset.playing = String(playing && !atEnd);
    setText(this.playLabel, say(playing && !atEnd ? "pause" : atEnd && canPlay ? "again" : "play"));
    this.scrub.max = String(Math.max(1, Math.ceil(edge_ms)));
    this.scrub.value = String(Math.round(at_ms));
    const text = say("momentOf", { at: spellClock(at_ms), end: spellClock(edge_ms) });
    this.scrub.setAttribute("aria-valuetext", text);
    setText(this.moment, text);
    if (this.speed.value !== String(speed)) this.speed.value = String(speed);
    setText(this.mark, recording !== null ? (recording ? say("recordingOf", { title: recording }) : say("recordingMark")) : live ? (behind ? say("liveBehind", { time: spellClock(edge_ms - at_ms) }) : say("live")) : "");
    this.mark.dataset.kind = recording !== null ? "recording" : behind ? "behind" : "live";
    this.toLive.hidden = !(live && behind);
  }
}
