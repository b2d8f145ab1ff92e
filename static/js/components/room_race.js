/**
 * A room's stimulus on a page: two lanes with their clocks, both strips on one axis, drawn by the same
 * pieces as the race. On phones it also tells when each lane's first text was painted. It refuses to know
 * votes and phases; the order of the lanes is handed in.
 *
 * @typedef {import("../rooms/room_frames.js").Round} Round
 * @typedef {import("../rooms/room_frames.js").LaneId} LaneId
 */

import { afterPaint } from "../measure/paint.js";
import { WORDS_PER_MINUTE } from "../measure/words_read.js";
import { lastWordOf } from "../race/lane.js";
import { momentOf } from "../race/moment.js";
import { PaintClock } from "../race/paint_clock.js";
import { axisOf } from "../race/strips_shape.js";
import { Playing } from "../rooms/playing.js";
import { sayFailure } from "../stream/failure.js";
import { say } from "../words.js";
import { part, setText } from "./parts.js";
import { LaneCard } from "./race_lane.js";
import { RaceStrips } from "./race_strips.js";

/** The strips are drawn so often while nothing new comes: phones have other things to do than hatching. */
const STRIPS_EVERY_MS = 120;

export class RoomRace {
  /** @type {Playing | null} */
  playing = null;
  /** @type {LaneCard[]} */
  #cards = [];
  /** @type {Round | null} */
  #round = null;
  #order = "ab";
  /** @type {number | null} */
  #frame = null;
  #stripsDrawn_ms = 0;
  /** @type {Set<LaneId>} */
  #painted = new Set();
  /** @type {import("../rooms/room_frames.js").Text[]} */
  #early = [];

  /**
   * @param {HTMLElement} root
   * @param {import("../rooms/room_clock.js").RoomClock} clock
   * @param {(lane: LaneId, since_ms: number) => void} [painted]
   */
  constructor(root, clock, painted = () => {}) {
    this.list = part(root, "lanes", HTMLElement);
    this.list.dataset.lanes = "2";
    this.strips = new RaceStrips(part(root, "strips", SVGSVGElement));
    this.clock = clock;
    this.painted = painted;
    this.paints = new PaintClock(afterPaint, () => this.#run());
  }

  /** The round as it is now. @param {Round} round @param {"ab" | "ba"} order which lane is shown as 1 */
  show(round, order) {
    const id = round.stimulus?.id ?? "";
    const isOther = this.playing === null || this.playing.id !== id || this.#round?.id !== round.id;
    const isRenamed = this.#order !== order || (this.#round?.catch === undefined) !== (round.catch === undefined);
    this.#round = round;
    this.#order = order;
    if (isOther) {
      this.playing = new Playing(id, round.lanes);
      this.#painted.clear();
      this.paints.isOn = false;
    }
    if (isOther || isRenamed) this.#deal();
    for (const text of this.#early.splice(0)) this.hear(text);
    this.#run();
  }

  /** @param {import("../rooms/room_frames.js").Text} text */
  hear(text) {
    const { playing } = this;
    // Text may come before the state that announces its stimulus.
    if (!playing || playing.id !== text.stimulus) return this.#keep(text);
    const before = playing.lanes[text.lane];
    playing.hear(text, this.#now());
    if (playing.lanes[text.lane] !== before) this.#deal();
    if (document.hidden) this.#draw();
    this.#run();
  }

  // Private

  /** Of one stimulus only: what never gets announced must not pile up. @param {import("../rooms/room_frames.js").Text} text */
  #keep(text) {
    if (this.#early[0]?.stimulus !== text.stimulus) this.#early = [];
    this.#early.push(text);
  }

  /** Cards for the lanes as they stand. */
  #deal() {
    const { playing } = this;
    if (!playing) return;
    this.#cards = this.#lanes().map((lane, i) => {
      const card = new LaneCard(lane, null);
      setText(part(card.element, "name", HTMLElement), this.#name(i));
      return card;
    });
    this.list.replaceChildren(...this.#cards.map(({ element }) => element));
  }

  #ids() {
    return /** @type {LaneId[]} */ ([...this.#order]);
  }

  #lanes() {
    const { playing } = this;
    return playing ? this.#ids().map((id) => playing.lanes[id]) : [];
  }

  /** @param {number} i position; its lane's name only when that has been revealed */
  #name(i) {
    const round = this.#round;
    const id = this.#ids()[i];
    const label = round?.catch !== undefined && id ? round.lanes?.[id].label : "";
    return label ? `${i + 1} · ${label}` : String(i + 1);
  }

  /** @returns {number} milliseconds since the stimulus began; NaN where that is not known */
  #now() {
    const stimulus = this.#round?.stimulus;
    return stimulus ? this.clock.at_ms(stimulus) : NaN;
  }

  #run() {
    if (this.#frame === null) this.#frame = requestAnimationFrame(() => this.#loop());
  }

  #loop() {
    this.#frame = null;
    this.#draw();
    const { playing } = this;
    if (playing?.id && !playing.isOver && this.#round?.stimulus?.state === "running") this.#run();
  }

  #draw() {
    const { playing } = this;
    if (!playing) return;
    const lanes = this.#lanes();
    const now_ms = this.#now();
    const stimulus = this.#round?.stimulus;
    // What was stopped or slowed down is clocked by its arrivals: no paint of it says anything.
    if (stimulus?.altered) this.paints.stop(lanes);
    else if (stimulus && this.clock.isPlaced && !this.paints.isOn) this.paints.begin(this.clock.here_ms(stimulus.started_ms));
    const over_ms = playing.isOver ? Math.max(...lanes.map(({ ended_ms }) => ended_ms ?? 0)) : null;
    const at_ms = !playing.id || Number.isNaN(now_ms) ? null : over_ms === null ? now_ms : Math.max(now_ms, over_ms);
    const { readable, strips } = momentOf(/** @type {any} */ ({ lanes, experiment: { wordsPerMinute: WORDS_PER_MINUTE } }), at_ms);
    this.#cards.forEach((card, i) => {
      if (card.draw(at_ms, readable)) this.#written(card.lane, /** @type {LaneId} */ (this.#ids()[i]));
    });
    const isMoving = over_ms === null && at_ms !== null;
    if (isMoving && performance.now() - this.#stripsDrawn_ms < STRIPS_EVERY_MS) return;
    this.#stripsDrawn_ms = performance.now();
    const last_ms = Math.max(over_ms ?? at_ms ?? 0, ...lanes.map((lane) => lastWordOf(lane) ?? 0));
    const axis_ms = axisOf(Math.max(1000, last_ms));
    this.strips.show({
      lanes: strips.map((strip, i) => ({ ...strip, name: this.#name(i) })), axis_ms, moment_ms: null, wordsPerMinute: WORDS_PER_MINUTE,
    });
  }

  /** @param {import("../race/lane.js").Lane} lane @param {LaneId} id */
  #written(lane, id) {
    if (!lane.late && this.paints.isOn) this.paints.written(lane, lane.arrivals.length);
    if (this.#painted.has(id)) return;
    this.#painted.add(id);
    const stimulus = this.#round?.stimulus;
    afterPaint((stamp_ms) => {
      if (stimulus && this.clock.isPlaced) this.painted(id, this.clock.at_ms(stimulus, stamp_ms));
    });
  }
}

/** What is being answered; a recording says that it is one. @param {Round} round */
export const askedOf = ({ prompt, recording }) => prompt ?? (recording === null ? "" : say("recordingPlays"));

/** Say why a stimulus did not come to its end, or nothing. @param {Element} line @param {Round | null} round */
export function showTrouble(line, round) {
  const state = round?.stimulus?.state;
  setText(line, state === "lost" ? say("stimulusLost") : state === "failed" ? say("stimulusFailed", { why: sayFailure(round?.stimulus ?? {}) }) : "");
}
