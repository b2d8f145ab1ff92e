/**
 * The experiment on backpressure: four slow readers of one question, one policy each, and a neighbour
 * who reads at once; levels while it runs, and what all of it held of the model's memory.
 */

import { gapsByPause } from "../lab/ledger.js";
import { blocksFor, HeldOverTime } from "../lab/memory.js";
import { SlowReader } from "../lab/slow_reader.js";
import { watchSteps } from "../lab/steps.js";
import { median } from "../measure/numbers.js";
import { spellTime } from "../measure/spelling.js";
import { countWords } from "../measure/words_read.js";
import { randomId } from "../stream/identity.js";
import { say } from "../words.js";
import { colourKey, Figures } from "./lab_figures.js";
import { sliderKnob, sourceKnob } from "./lab_knobs.js";
import { drawLevel, levelDrawing } from "./lab_level.js";
import { drawMemory, memoryDrawing } from "./lab_memory.js";
import { LabStage } from "./lab_stage.js";
import { element, setText } from "./parts.js";
import { Strip } from "./strip.js";

const POLICIES = ["pause", "coalesce", "abort", "buffer"];
const DRAW_EVERY_MS = 100;
/** Nothing here takes longer; a reader that is slower still has shown what it has to show. */
const LONGEST_MS = 120_000;

/** @param {HTMLElement} page */
export async function mount(page) {
  const stage = new LabStage(page, 3);
  const source = await sourceKnob(location.href);
  const speed = sliderKnob({
    word: "readerSpeed", note: say("readerSpeedNote"), min: 0, max: 60, step: 2, value: 6,
    spell: (value) => (value ? say("perSecondTokens", { value }) : say("asleep")),
  });
  const length = sliderKnob({ word: "answerTokens", min: 96, max: 384, step: 32, value: 160, spell: (count) => say("countTokens", { count }) });
  stage.knobs.append(speed.element, length.element, source.element);
  stage.onRun(async (signal) => {
    const run = new Run(stage.picture, length.value(), source.isLive());
    return run.go(() => speed.value(), (id) => ({ id, ...source.body(say("longPrompt"), length.value()) }), signal);
  });
}

class Run {
  #held = new HeldOverTime();
  #engine = { used: 0, total: 0 };

  /** @param {HTMLElement} picture @param {number} tokens @param {boolean} isLive */
  constructor(picture, tokens, isLive) {
    this.tokens = tokens;
    this.isLive = isLive;
    this.lanes = POLICIES.map((policy) => new Lane(policy));
    this.neighbour = new NeighbourLane();
    this.memory = memoryDrawing();
    this.memoryNote = element("p", "lab-end");
    picture.replaceChildren(
      colourKey("", [["keyLevel", filled("var(--accent-wash)")], ["keyPaused", filled("var(--hatch)")]]),
      element("div", "lab-lanes pairs", ...this.lanes.map((lane) => lane.element)),
      element("div", "lab-lanes lab-part", this.neighbour.element),
      element("div", "lab-part", element("h4", "", say("memory")),
        ...(isLive ? [colourKey("", [
          ["keyUsed", filled("var(--accent)")], ["keyBlock", filled("var(--accent-wash)")], ["keyReserved", filled("var(--sunk)")],
        ])] : []), this.memory, this.memoryNote),
    );
  }

  /** @param {() => number} speed @param {(id: string) => object} body @param {AbortSignal} signal @returns {Promise<string>} */
  async go(speed, body, signal) {
    const ending = new AbortController();
    const all = ending.signal;
    signal.addEventListener("abort", () => ending.abort(), { once: true });
    const limits = await watchSteps(location.href, (step) => this.#see(step), all);
    const late = setTimeout(() => ending.abort(), LONGEST_MS);
    const began_ms = performance.now();
    const readers = POLICIES.map(() => new SlowReader(speed));
    const fast = new SlowReader(() => Infinity);
    const draw = () => this.#draw(readers, fast, limits, performance.now() - began_ms);
    const timer = setInterval(draw, DRAW_EVERY_MS);
    try {
      await Promise.all([
        ...readers.map((reader, i) => reader.run(location.href, { ...body(randomId()), slow_policy: POLICIES[i] }, began_ms, all)),
        fast.run(location.href, body(randomId()), began_ms, all),
      ]);
    } finally {
      clearInterval(timer);
      clearTimeout(late);
      draw();
      ending.abort();
    }
    const [paused, , , buffered] = readers.map(({ ledger }) => ledger.most);
    const sum = (/** @type {(reader: SlowReader) => number} */ of) => readers.reduce((whole, reader) => whole + of(reader), 0);
    return say("verdictPaused", { most: paused ?? 0, buffered: buffered ?? 0, left: sum(({ ledger }) => ledger.unread), made: sum(({ ledger }) => ledger.made) });
  }

  // Private

  /** @param {import("../lab/steps.js").Step} step */
  #see({ kv_used, kv_total }) {
    this.#engine = { used: Math.max(this.#engine.used, kv_used), total: kv_total };
  }

  /** @param {SlowReader[]} readers @param {SlowReader} fast @param {import("../lab/steps.js").Limits} limits @param {number} now_ms */
  #draw(readers, fast, limits, now_ms) {
    const top = Math.max(limits.high_tokens * 1.25, ...readers.map(({ ledger }) => ledger.most));
    readers.forEach((reader, i) => this.lanes[i]?.show(reader, limits, now_ms, top));
    this.neighbour.show(fast, readers.flatMap(({ ledger }) => ledger.pauses), now_ms);
    this.#showMemory([...readers, fast], limits.block_tokens);
  }

  /** @param {SlowReader[]} readers @param {number} block */
  #showMemory(readers, block) {
    if (!this.isLive) return setText(this.memoryNote, say("memoryNone"));
    const held = readers.filter((reader) => reader.held > 0).map((reader) => ({ used: reader.held, most: reader.promptTokens + this.tokens }));
    if (held.length === 0) return;
    if (this.#held.look(held, block)) drawMemory(this.memory, held, block);
    const { reserved, paged } = this.#held;
    const percent = (/** @type {number} */ share) => say("percent", { value: Math.round(share * 100) });
    const engine = this.#engine.total ? ` ${say("memoryEngine", this.#engine)}` : "";
    setText(this.memoryNote, say("memoryHow", { tokens: block, reserved: percent(reserved), paged: percent(paged) }) + engine);
  }
}

class Lane {
  /** @param {string} policy */
  constructor(policy) {
    this.name = say(`${policy}Policy`);
    this.drawing = levelDrawing();
    this.figures = new Figures(["made", "read", "left", "pausedFor", "kvBlocks", "pieces"]);
    this.end = element("p", "lab-end");
    this.element = element("section", "lab-lane", element("h4", "", this.name), element("p", "", say(`${policy}How`)), this.drawing, this.figures.element, this.end);
    this.element.dataset.lane = policy;
  }

  /** @param {SlowReader} reader @param {import("../lab/steps.js").Limits} limits @param {number} now_ms @param {number} top */
  show(reader, limits, now_ms, top) {
    const { ledger, fate } = reader;
    drawLevel(this.drawing, { name: this.name, ledger, now_ms, axis_ms: Math.max(5000, now_ms), top, high: limits.high_tokens, low: limits.low_tokens });
    this.figures.show({
      made: ledger.made, read: ledger.read, left: ledger.unread, pausedFor: spellTime(ledger.pausedFor(now_ms)),
      kvBlocks: blocksFor(reader.held, limits.block_tokens), pieces: ledger.pieces,
    });
    showFate(this.element, this.end, fate);
  }
}

class NeighbourLane {
  constructor() {
    this.strip = new Strip();
    this.figures = new Figures(["made", "gapAwake", "gapAsleep"]);
    this.end = element("p", "lab-end");
    this.element = element("section", "lab-lane", element("h4", "", say("neighbour")), element("p", "", say("neighbourHow")), this.strip.element, this.figures.element, this.end);
    this.element.dataset.lane = "neighbour";
  }

  /** @param {SlowReader} reader @param {import("../lab/ledger.js").Pause[]} pauses @param {number} now_ms */
  show(reader, pauses, now_ms) {
    const ended = reader.fate.kind === "done";
    const gaps = gapsByPause(reader.arrivals.map(({ at_ms }) => at_ms), pauses);
    const last_ms = reader.arrivals.at(-1)?.at_ms ?? now_ms;
    this.strip.show({ arrivals: reader.arrivals.map(({ at_ms, text, tokens }) => ({ at_ms, tokens, words: countWords(text) })), now_ms: ended ? last_ms : now_ms, ended, axis_ms: Math.max(5000, now_ms) });
    this.figures.show({ made: reader.ledger.made, gapAwake: spellTime(median(gaps.awake)), gapAsleep: spellTime(median(gaps.asleep)) });
    showFate(this.element, this.end, reader.fate);
  }
}

/** @param {HTMLElement} lane @param {HTMLElement} place @param {import("../lab/slow_reader.js").Fate} fate */
function showFate(lane, place, { kind, message }) {
  lane.dataset.fate = kind;
  const words = { waiting: "waitingFor", running: "", done: "endedDone", cancelled: "endedCancelled", error: "endedError" };
  place.toggleAttribute("data-failed", kind === "error");
  setText(place, words[kind] ? say(words[kind], { message }) : "");
}

/** @param {string} fill */
const filled = (fill) => ({ fill, stroke: "var(--line-strong)" });
