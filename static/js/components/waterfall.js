/**
 * The waterfall of one reply, drawn: a bar of its stages and a table that says of each what it is, how
 * long it took and how that is known. Colours help; the numbers in the bar carry the meaning.
 *
 * @typedef {import("../measure/waterfall.js").Stage} Stage
 */

import { spellTime } from "../measure/spelling.js";
import { waterfallOf } from "../measure/waterfall.js";
import { say } from "../words.js";
import { element, svg } from "./parts.js";

/** Of the drawing, in units that come out near a pixel each, on a phone and on a desk. */
const HEIGHT = 30;
const WIDTH = innerWidth < 640 ? 320 : 720;
/** Narrower pieces have no room for their number. */
const NUMBERED = 22;

/** @param {import("../chat/reply.js").Reply} reply @returns {HTMLElement} */
export function waterfall(reply) {
  const whole = waterfallOf(reply);
  if (!whole) return element("p", "deeper-none", say(reply.flags.resumed || reply.flags.reconnected ? "noTraceResumed" : "noTrace"));
  const longest = whole.stages.reduce((most, stage) => (stage.ms > most.ms ? stage : most));
  return element("section", "waterfall",
    element("h3", "", say("waterfallTitle")),
    element("p", "waterfall-verdict", say("waterfallVerdict", {
      time: spell(longest.ms), total: spell(whole.total_ms), stage: say(`stage_${longest.name}`),
    })),
    bar(whole.stages, whole.total_ms),
    table(whole.stages, whole.total_ms),
    element("p", "deeper-small", say("waterfallClock", { error: spell(whole.error_ms) })));
}

// Private

/** @param {Stage[]} stages @param {number} total_ms */
function bar(stages, total_ms) {
  const scale = WIDTH / Math.max(1, total_ms);
  const pieces = stages.flatMap(({ name, from_ms, ms }, i) => {
    const [x, width] = [from_ms * scale, Math.max(0, ms) * scale];
    const box = svg("rect", { class: `stage stage-${name}`, x: x.toFixed(1), y: 1, width: Math.max(1, width).toFixed(1), height: HEIGHT - 2 });
    if (width < NUMBERED) return [box];
    return [box, svg("text", { class: `stage-number on-${name}`, x: (x + width / 2).toFixed(1), y: HEIGHT / 2 + 5, "text-anchor": "middle" }, String(i + 1))];
  });
  const drawing = svg("svg", { class: "waterfall-bar", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img",
    "aria-label": say("waterfallLabel", { total: spell(total_ms) }) }, ...pieces);
  return drawing;
}

/** @param {Stage[]} stages @param {number} total_ms */
function table(stages, total_ms) {
  const rows = stages.map(({ name, ms, error_ms }, i) => {
    const sign = element("span", `stage-sign sign-${name}`);
    const time = error_ms > 0 ? say("plusMinus", { time: spell(ms), error: spell(error_ms) }) : spell(ms);
    return element("tr", "",
      heading("row", element("span", "stage-place", String(i + 1)), sign, say(`stage_${name}`)),
      element("td", "stage-time", time),
      element("td", "stage-how", say(`stageHow_${name}`)));
  });
  const sum = element("tr", "", heading("row", say("firstWord")), element("td", "stage-time", spell(total_ms)), element("td", "stage-how", say("waterfallSum")));
  return element("table", "stages",
    element("thead", "", element("tr", "", heading("col", say("stage")), heading("col", say("stageTime")), heading("col", say("stageHow")))),
    element("tbody", "", ...rows), element("tfoot", "", sum));
}

/** @param {string} scope @param {(Node | string)[]} children */
function heading(scope, ...children) {
  const cell = element("th", "", ...children);
  cell.setAttribute("scope", scope);
  return cell;
}

/** Tenths where a millisecond is coarse; a rest may be negative. @param {number} ms */
function spell(ms) {
  if (ms > 999.5) return spellTime(ms);
  const value = Math.abs(ms) < 99.95 ? ms.toFixed(1) : Math.round(ms).toString();
  return say("milliseconds", { value: value.replace(/^-/, "−") });
}
