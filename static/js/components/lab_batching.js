/**
 * The experiment on batching: a crowd of virtual users asks the model through a gate; who was served
 * when, what the others felt of a long question, what a step cost, and this page's runs side by side.
 */

import { recordedRun } from "../lab/recorded_run.js";
import { UsersChart } from "../lab/users_chart.js";
import { runLive, runRecorded } from "../lab/users_run.js";
import { spellRate, spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { colourKey } from "./lab_figures.js";
import { drawDots, drawFelt, drawGantt, drawingOf } from "./lab_gantt.js";
import { isReady, listKnob, runSourceKnob, sliderKnob } from "./lab_knobs.js";
import { LabStage } from "./lab_stage.js";
import { element } from "./parts.js";

/** @typedef {import("../lab/users_chart.js").Totals} Totals */

const BATCHINGS = ["single", "request", "iteration"];
const PREFILLS = ["pieces", "at_once"];
/** @type {[string, { class: string }][]} */
const KEY = [["keyQueue", { class: "queue" }], ["keyPrefill", { class: "prefill" }], ["keyDecode", { class: "decode" }], ["keyAhead", { class: "ahead" }]];
const DRAW_EVERY_MS = 250;
const COLUMNS = ["runOrder", "runReading", "runFirst", "runFirst95", "runGap", "runGapMost", "runTotal", "runRate"];

/** @param {HTMLElement} page */
export async function mount(page) {
  const stage = new LabStage(page, 3);
  const knobs = new Knobs(await isReady(location.href));
  stage.knobs.append(...knobs.elements);
  const pictures = new Pictures();
  stage.picture.append(...pictures.elements);
  stage.onRun(async (signal) => {
    const chart = new UsersChart();
    const timer = setInterval(() => pictures.draw(chart), DRAW_EVERY_MS);
    try {
      await knobs.run((item) => chart.hear(item), signal);
    } finally {
      clearInterval(timer);
      pictures.draw(chart);
    }
    if (!chart.totals?.answered) return say("verdictNobody");
    pictures.keep(knobs.order.value(), knobs.prefill.value(), chart.totals);
    return verdict(say(`${knobs.order.value()}Name`), chart.totals);
  });
}

class Knobs {
  order = listKnob({ word: "batching", options: BATCHINGS.map((value) => ({ value, label: say(`${value}Batching`) })) });
  prefill = listKnob({ word: "prefill", options: PREFILLS.map((value) => ({ value, label: say(`${value}Prefill`) })), note: say("prefillNote") });
  #people = sliderKnob({ word: "users", min: 2, max: 24, step: 1, value: 8, spell: (count) => say("countUsers", { count }) });
  #rate = sliderKnob({ word: "userRate", min: 0.5, max: 10, step: 0.5, value: 3, spell: (value) => say("perSecondUsers", { value }) });
  #words = sliderKnob({ word: "prompt", min: 10, max: 310, step: 20, value: 30, spell: (count) => say("countWords", { count }) });
  #long = sliderKnob({ word: "longPrompt", min: 10, max: 390, step: 20, value: 250, note: say("longPromptNote"), spell: (count) => say("countWords", { count }) });
  #longest = sliderKnob({ word: "longest", min: 12, max: 120, step: 12, value: 48, note: say("longestNote"), spell: (count) => say("countTokens", { count }) });
  #group = sliderKnob({ word: "group", min: 2, max: 12, step: 1, value: 4, spell: String });

  /** @param {boolean} isReady whether a model is there to ask */
  constructor(isReady) {
    const live = [this.#people, this.#rate, this.#words, this.#long, this.#longest, this.#group];
    this.source = runSourceKnob(isReady, live.map((knob) => knob.element));
    this.elements = [this.source, this.order, this.prefill, ...live].map((knob) => knob.element);
  }

  /** @param {(item: import("../lab/users_chart.js").Item) => void} hear @param {AbortSignal} signal */
  async run(hear, signal) {
    if (this.source.isRecorded()) {
      const { runs } = await recordedRun(location.href, "batching");
      return runRecorded(runs[`${this.order.value()}-${this.prefill.value()}`] ?? [], hear, signal);
    }
    return runLive(location.href, {
      batching: this.order.value(), prefill: this.prefill.value(), group: this.#group.value(),
      users: this.#people.value(), per_second: this.#rate.value(), prompt_words: this.#words.value(), long_words: this.#long.value(),
      least_tokens: Math.ceil(this.#longest.value() / 6), most_tokens: this.#longest.value(), seed: 1,
    }, hear, signal);
  }
}

class Pictures {
  #gantt = drawingOf("crowd");
  #felt = drawingOf("crowd felt");
  #dots = drawingOf("steps");
  #rows = element("tbody", "");

  constructor() {
    const wide = element("div", "lab-scroll", this.#gantt,
      element("h4", "lab-next", say("felt")), element("p", "lab-end", say("feltHow")), this.#felt);
    wide.tabIndex = 0;
    this.elements = [
      element("div", "", element("h4", "", say("gantt")), element("p", "lab-end", say("ganttHow")), colourKey("crowd", KEY), wide),
      element("div", "lab-part lab-scroll runs", element("h4", "", say("runs")), element("table", "",
        element("thead", "", element("tr", "", ...COLUMNS.map((word) => element("th", "", say(word))))), this.#rows)),
      element("div", "lab-part", element("h4", "", say("dots")), element("p", "", say("dotsHow")), this.#dots),
    ];
  }

  /** @param {UsersChart} chart */
  draw(chart) {
    drawGantt(this.#gantt, chart);
    drawFelt(this.#felt, chart);
    drawDots(this.#dots, chart.dots);
  }

  /** A run's numbers stay, to be compared. @param {string} order @param {string} prefill @param {Totals} totals */
  keep(order, prefill, totals) {
    const { first_p50_ms, first_p95_ms, gap_p50_ms, gap_most_ms, total_ms, tokens_per_second } = totals;
    const times = [first_p50_ms, first_p95_ms, gap_p50_ms, gap_most_ms, total_ms].map((ms) => spellTime(ms));
    const shown = [say(`${order}Name`), say(`${prefill}Name`), ...times, tokens_per_second.toFixed(1)];
    this.#rows.append(element("tr", "", ...shown.map((text) => element("td", "", text))));
  }
}

/** @param {string} order @param {Totals} totals */
function verdict(order, { answered, first_p50_ms, total_ms, tokens_per_second, gap_p50_ms, gap_most_ms }) {
  return say("verdict", {
    order, count: answered, first: spellTime(first_p50_ms), total: spellTime(total_ms),
    rate: spellRate(tokens_per_second).replace("/s", ""), gap: spellTime(gap_p50_ms), most: spellTime(gap_most_ms),
  });
}
