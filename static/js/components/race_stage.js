/**
 * The stage: lanes, strips, verdict and the controls of time, drawn again for every frame from the
 * lanes' timelines and the playhead. Live and recorded races differ only in where the edge is.
 *
 * What moves the playhead off a live race stops the clock of its paints (race/paint_clock.js).
 *
 * @typedef {import("../race/race.js").Race} Race
 * @typedef {import("../race/lane.js").Lane} Lane
 * @typedef {import("../race/keys.js").Action} Action
 * @typedef {"idle" | "running" | "over"} State
 */

import { afterPaint } from "../measure/paint.js";
import { spellTime } from "../measure/spelling.js";
import { nameOf } from "../race/lane_words.js";
import { momentOf } from "../race/moment.js";
import { move, Playhead } from "../race/playhead.js";
import { PaintClock } from "../race/paint_clock.js";
import { endOfRace } from "../race/race.js";
import { axisOf } from "../race/strips_shape.js";
import { say } from "../words.js";
import { part } from "./parts.js";
import { LaneCard } from "./race_lane.js";
import { Playback } from "./race_playback.js";
import { RaceStrips } from "./race_strips.js";
import { VerdictLine } from "./race_verdict.js";

export class Stage {
  /** @type {Race | null} */
  race = null;
  /** @type {LaneCard[]} */
  cards = [];
  playhead = new Playhead();
  #clicked_ms = 0;
  #begun = false;
  /** @type {number | null} */
  #frame = null;
  #before_ms = 0;

  /**
   * @param {HTMLElement} root
   * @param {{ changeLane: ((index: number, settings: import("../race/lane_settings.js").LaneSettings | null) => void) | null,
   *   changed(state: State): void, announce(text: string): void }} tell
   */
  constructor(root, tell) {
    this.root = root;
    this.tell = tell;
    this.list = part(root, "lanes", HTMLElement);
    this.verdict = new VerdictLine(root, tell.announce);
    this.clock = new PaintClock(afterPaint, (lane, isFirst) => this.#stamped(lane, isFirst));
    this.strips = new RaceStrips(part(root, "strips", SVGSVGElement));
    this.playback = new Playback(part(root, "playback", HTMLElement), {
      act: (action) => this.act(action), seek: (at_ms) => this.seek(at_ms), toLive: () => this.#follow(),
    });
    document.addEventListener("visibilitychange", () => this.#visibility());
  }

  /** Put a race on the stage, not begun. @param {Race} race */
  show(race) {
    this.race = race;
    this.playhead = new Playhead();
    this.#begun = this.clock.isOn = false;
    this.verdict.reset();
    this.cards = race.lanes.map((lane, i) => {
      const { changeLane } = this.tell;
      return new LaneCard(lane, changeLane && { change: (settings) => changeLane(i, settings), remove: () => changeLane(i, null) });
    });
    this.list.replaceChildren(...this.cards.map(({ element }) => element));
    this.list.dataset.lanes = String(this.cards.length);
    this.draw();
  }

  /** The race begins: a live one at the click, a recorded one at its beginning. @param {number} clicked_ms */
  begin(clicked_ms) {
    this.#begun = true;
    this.#clicked_ms = clicked_ms;
    if (this.race?.source === "live") this.clock.begin(clicked_ms);
    this.#visibility();
    this.playhead.restart(this.race?.source === "live");
    this.tell.announce(say("saidStart"));
    this.#run();
  }

  /** A lane of the live race has changed: its first text goes to the screen at once. @param {Lane} lane */
  changed(lane) {
    // A hidden tab has no frames; and the first text must not wait for one.
    if (document.hidden || lane.arrivals.length === 1 || lane.ended_ms !== null) this.#tick();
    this.#run();
  }

  /** @returns {State} of what is seen */
  get state() {
    if (!this.#begun) return "idle";
    return this.#end() !== null && this.playhead.at_ms >= Number(this.#end()) ? "over" : "running";
  }

  /** @returns {boolean} text is still on its way, whatever is seen */
  get isLive() {
    return this.#begun && this.race?.source === "live" && this.#end() === null;
  }

  /** @returns {number} milliseconds since the click */
  elapsed_ms() {
    return performance.now() - this.#clicked_ms;
  }

  /** @param {Action} action one that moves time; others are not the stage's */
  act(action) {
    // A recording is begun by its Play button, too: a downloaded page has no other.
    if (!this.#begun) return void (action === "pause" && this.race?.source === "replay" && this.begin(performance.now()));
    if (this.race && move(this.playhead, action, this.race.lanes, this.#edge(), this.state === "over")) this.#stopClocking();
    this.#run();
  }

  /** @param {number} at_ms */
  seek(at_ms) {
    if (!this.#begun) return;
    this.#stopClocking();
    this.playhead.seek(at_ms, this.#edge());
    this.draw();
  }

  /** The class reads at another speed. @param {number} wordsPerMinute */
  readAt(wordsPerMinute) {
    if (this.race) this.race.experiment = { ...this.race.experiment, wordsPerMinute };
    this.draw();
  }

  /** Draw what is to be seen now. */
  draw() {
    const { race, playhead } = this;
    if (!race) return;
    const at_ms = this.#begun ? playhead.at_ms : null;
    const { seen, readable, strips } = momentOf(race, at_ms);
    this.cards.forEach((card, i) => {
      if (card.draw(at_ms, readable)) this.clock.written(card.lane, seen[i]?.arrivals ?? 0);
    });
    const edge_ms = this.#edge();
    const whole_ms = race.source === "replay" ? Number(this.#end()) : edge_ms;
    const behind = this.#begun && playhead.isBehind(edge_ms);
    this.strips.show({
      lanes: strips, axis_ms: axisOf(Math.max(whole_ms, 1000)), moment_ms: behind ? playhead.at_ms : null,
      wordsPerMinute: race.experiment.wordsPerMinute,
    });
    this.playback.show({
      at_ms: at_ms ?? 0, edge_ms, playing: playhead.playing, speed: playhead.speed, live: this.isLive, behind,
      canPlay: this.#begun, canBegin: race.source === "replay", recording: race.recordingTitle,
    });
    this.#judge(race);
  }

  // Private

  #end() {
    return this.race ? endOfRace(this.race) : null;
  }

  /** How far the audience can look. */
  #edge() {
    if (!this.race || (!this.#begun && this.race.source === "live")) return 0;
    const end_ms = this.#end();
    if (this.race.source === "replay") return Number(end_ms);
    return Math.min(this.elapsed_ms(), end_ms ?? Infinity);
  }

  #run() {
    if (this.#frame !== null) return;
    this.#before_ms = performance.now();
    this.#frame = requestAnimationFrame(() => this.#loop());
    this.draw();
  }

  #loop() {
    this.#frame = null;
    this.#tick();
    const moves = this.isLive || (this.playhead.playing && this.state === "running");
    if (moves) this.#frame = requestAnimationFrame(() => this.#loop());
  }

  #tick() {
    const now_ms = performance.now();
    this.playhead.advance(now_ms - this.#before_ms, this.#edge());
    this.#before_ms = now_ms;
    this.draw();
  }

  /** @param {Lane} lane @param {boolean} isFirst */
  #stamped(lane, isFirst) {
    const isVeryFirst = this.race?.lanes.every((other) => other === lane || other.firstPaint_ms === null);
    if (isFirst && isVeryFirst) this.tell.announce(say("saidFirst", { lane: nameOf(lane), time: spellTime(lane.firstPaint_ms) }));
    this.#run();
  }

  #stopClocking() {
    if (this.isLive) this.clock.stop(this.race?.lanes ?? []);
  }

  #follow() {
    this.playhead.seek(this.#edge(), this.#edge());
    this.playhead.speed = 1;
    this.playhead.playing = true;
    this.#run();
  }

  #visibility() {
    if (!this.isLive || !document.hidden) return;
    for (const lane of this.race?.lanes ?? []) if (lane.ended_ms === null) lane.hidden = true;
    this.#tick();
  }

  /** @param {Race} race */
  #judge(race) {
    // The verdict waits for the last stamp.
    const state = this.state === "over" && this.clock.pending > 0 ? "running" : this.state;
    this.root.dataset.race = state;
    for (const card of this.cards) card.allowChange(!this.isLive && this.tell.changeLane !== null && race.source === "live");
    this.verdict.show(state, race.lanes);
    if (state === "over") {
      this.clock.isOn = false;
      this.strips.describe(race.lanes);
    }
    this.tell.changed(state);
  }
}
