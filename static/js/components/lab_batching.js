/**
 * The experiment on batching: a crowd of virtual users asks the live model through a gate; who was
 * served when, what a step cost, and this page's runs side by side.
 */

import { UsersChart } from "../lab/users_chart.js";
import { spellRate, spellTime } from "../measure/spelling.js";
import { httpAddress } from "../stream/address.js";
import { LineParser } from "../stream/ndjson_parser.js";
import { readText, refusalOf } from "../stream/one_request.js";
import { say } from "../words.js";
import { drawDots, drawGantt, drawingOf } from "./lab_gantt.js";
import { listKnob, sliderKnob } from "./lab_knobs.js";
import { LabStage } from "./lab_stage.js";
import { element, svg } from "./parts.js";

const BATCHINGS = ["single", "request", "iteration"];
const DRAW_EVERY_MS = 250;
const COLUMNS = ["runOrder", "runFirst", "runFirst95", "runTotal", "runRate"];

/** @param {HTMLElement} page */
export async function mount(page) {
  const stage = new LabStage(page, 3);
  const order = listKnob({ word: "batching", options: BATCHINGS.map((value) => ({ value, label: say(`${value}Batching`) })), note: say("live") });
  const people = sliderKnob({ word: "users", min: 2, max: 24, step: 1, value: 8, spell: (count) => say("countUsers", { count }) });
  const rate = sliderKnob({ word: "rate", min: 0.5, max: 10, step: 0.5, value: 3, spell: (value) => say("perSecondUsers", { value }) });
  const words = sliderKnob({ word: "prompt", min: 10, max: 310, step: 20, value: 30, spell: (count) => say("countWords", { count }) });
  const longest = sliderKnob({ word: "longest", min: 12, max: 120, step: 12, value: 48, note: say("longestNote"), spell: (count) => say("countTokens", { count }) });
  const group = sliderKnob({ word: "group", min: 2, max: 12, step: 1, value: 4, spell: String });
  stage.knobs.append(...[order, people, rate, words, longest, group].map((knob) => knob.element));
  const gantt = drawingOf("crowd");
  const dots = drawingOf("steps");
  const rows = element("tbody", "");
  const wide = element("div", "lab-scroll", gantt);
  wide.tabIndex = 0;
  stage.picture.append(
    element("div", "", element("h4", "", say("gantt")), element("p", "lab-end", say("ganttHow")), key(), wide),
    element("div", "lab-part", element("h4", "", say("dots")), element("p", "", say("dotsHow")), dots),
    element("div", "lab-part lab-scroll runs", element("h4", "", say("runs")), element("table", "",
      element("thead", "", element("tr", "", ...COLUMNS.map((word) => element("th", "", say(word))))), rows)),
  );
  stage.onRun(async (signal) => {
    const chart = new UsersChart();
    const draw = () => {
      drawGantt(gantt, chart);
      drawDots(dots, chart.dots);
    };
    const timer = setInterval(draw, DRAW_EVERY_MS);
    try {
      await follow({
        users: people.value(), per_second: rate.value(), prompt_words: words.value(), batching: order.value(), group: group.value(),
        least_tokens: Math.ceil(longest.value() / 6), most_tokens: longest.value(), seed: 1,
      }, chart, signal);
    } finally {
      clearInterval(timer);
      draw();
    }
    const name = say(`${order.value()}Name`);
    if (!chart.totals?.answered) return say("verdictNobody");
    const { answered, first_p50_ms, first_p95_ms, total_ms, tokens_per_second } = chart.totals;
    const shown = [name, spellTime(first_p50_ms), spellTime(first_p95_ms), spellTime(total_ms), tokens_per_second.toFixed(1)];
    rows.append(element("tr", "", ...shown.map((text) => element("td", "", text))));
    return say("verdict", { order: name, count: answered, first: spellTime(first_p50_ms), total: spellTime(total_ms), rate: spellRate(tokens_per_second).replace("/s", "") });
  });
}

/** @param {object} body @param {UsersChart} chart @param {AbortSignal} signal */
async function follow(body, chart, signal) {
  const response = await fetch(httpAddress(location.href, "api/lab/users"), {
    method: "POST", signal, headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error((await refusalOf(response)).message);
  const lines = new LineParser();
  await readText(response, (text) => lines.push(text).forEach((line) => chart.hear(JSON.parse(line))));
}

function key() {
  const entries = [["keyQueue", "queue"], ["keyPrefill", "prefill"], ["keyDecode", "decode"]];
  return element("p", "lab-key crowd", ...entries.map(([word, kind]) => element("span", "",
    svg("svg", { viewBox: "0 0 14 9", "aria-hidden": "true" }, svg("rect", { class: kind ?? "", width: 14, height: 9 })), say(word ?? ""))));
}
