/**
 * The crowd, drawn: one row a user (waiting, prefill, decode, what is read ahead behind its end); under it, on the same axis, the steps that
 * the writing ones felt as gaps; and every step's time over how many it served.
 */

import { begunAt } from "../lab/users_chart.js";
import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { svg } from "./parts.js";

const WIDTH = 900;
const ROW = 20;
const AXIS = 22;
const LEFT = 34;
const STEPS_MS = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000];

/** @typedef {import("../lab/users_chart.js").UsersChart} UsersChart */

/** @param {SVGElement} drawing @param {UsersChart} chart */
export function drawGantt(drawing, chart) {
  const { rows, now_ms } = chart;
  const { x, marks } = axisOf(chart);
  const height = rows.length * ROW + AXIS;
  const ordinary = Math.min(...rows.map(({ user }) => user.prompt_words));
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${height}`);
  drawing.setAttribute("aria-label", say("ganttLabel", { count: rows.length }));
  drawing.replaceChildren(
    ...marks.flatMap((ms) => [
      svg("line", { class: "grid", x1: x(ms), x2: x(ms), y1: 0, y2: height - AXIS + 4 }),
      svg("text", { x: x(ms), y: height - 4, "text-anchor": "middle" }, say("seconds", { value: ms / 1000 })),
    ]),
    ...rows.flatMap((row, i) => {
      const y = i * ROW + 3;
      const waited_ms = begunAt(row) ?? now_ms;
      const bars = (/** @type {import("../lab/users_chart.js").Span[]} */ spans, top = y, height = ROW - 6) => spans.map(({ from_ms, to_ms }) => `M${x(from_ms).toFixed(1)} ${top}H${Math.max(x(from_ms) + 1, x(to_ms)).toFixed(1)}v${height}H${x(from_ms).toFixed(1)}z`).join("");
      return [
        svg("text", { x: LEFT - 8, y: y + ROW - 9, "text-anchor": "end" }, String(row.user.number)),
        ...(row.user.prompt_words > ordinary && row.arrived_ms !== null ? [longMark(x(row.arrived_ms), x(row.ended_ms ?? now_ms), y + ROW - 9)] : []),
        ...(row.arrived_ms === null ? [] : [svg("rect", { class: "queue", x: x(row.arrived_ms), y: y + 4, width: Math.max(1, x(waited_ms) - x(row.arrived_ms)), height: ROW - 14 })]),
        svg("path", { class: "prefill", d: bars(row.prefill) }),
        svg("path", { class: "decode", d: bars(row.decode) }),
        // Lower and hollow: no part of the answer, which is over.
        svg("path", { class: "ahead", d: bars(row.ahead, y + 4, ROW - 14) }),
        ...(row.first_ms === null ? [] : [svg("path", { class: "first", d: `M${x(row.first_ms).toFixed(1)} ${y - 2}v${ROW - 2}` })]),
      ];
    }),
  );
}

const FELT_HEIGHT = 130;

/**
 * A step in which somebody wrote, as a bar as wide and as high as it took: the gap that all of them felt.
 * @param {SVGElement} drawing @param {UsersChart} chart
 */
export function drawFelt(drawing, chart) {
  const felt = chart.dots.filter(({ numWriting }) => numWriting > 0);
  const { x } = axisOf(chart);
  const top_ms = Math.max(50, ...felt.map(({ ms }) => ms));
  const y = (/** @type {number} */ ms) => FELT_HEIGHT - 4 - (ms / top_ms) * (FELT_HEIGHT - 24);
  const longest = felt.reduce((most, dot) => (dot.ms > most.ms ? dot : most), { t: 0, ms: 0 });
  const middle = Math.min(Math.max(x(longest.t + longest.ms / 2), LEFT + 60), WIDTH - 64);
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${FELT_HEIGHT}`);
  drawing.setAttribute("aria-label", say("feltLabel", { count: felt.length, longest: spellTime(longest.ms || null) }));
  drawing.replaceChildren(
    svg("line", { class: "grid", x1: LEFT, x2: WIDTH - 4, y1: y(0), y2: y(0) }),
    ...[false, true].map((withPrefill) => svg("path", {
      class: withPrefill ? "prefill" : "decode",
      d: felt.map(({ t, ms, withPrefill: reads }) => (reads === withPrefill
        ? `M${x(t).toFixed(1)} ${y(0)}V${y(ms).toFixed(1)}H${Math.max(x(t) + 1, x(t + ms)).toFixed(1)}V${y(0)}z` : "")).join(""),
    })),
    ...(longest.ms ? [svg("text", { class: "long", x: middle, y: 14, "text-anchor": "middle" }, say("feltLongest", { time: spellTime(longest.ms) }))] : []),
  );
}

const DOTS_HEIGHT = 200;

/** @param {SVGElement} drawing @param {import("../lab/users_chart.js").Dot[]} dots */
export function drawDots(drawing, dots) {
  const most = Math.max(4, ...dots.map(({ served }) => served));
  const times = dots.map(({ ms }) => ms).sort((a, b) => a - b);
  // The slowest hundredth would flatten all the others.
  const most_ms = times[Math.floor(times.length * 0.99)] ?? 0;
  const top_ms = STEPS_MS.find((candidate) => candidate >= most_ms) ?? most_ms;
  const x = (/** @type {number} */ served, /** @type {number} */ i) => 44 + ((served - 0.5 + ((i % 9) - 4) * 0.05) / most) * (WIDTH / 2 - 54);
  const y = (/** @type {number} */ ms) => DOTS_HEIGHT - 40 - (Math.min(ms, top_ms) / top_ms) * (DOTS_HEIGHT - 56);
  drawing.setAttribute("viewBox", `0 0 ${WIDTH / 2} ${DOTS_HEIGHT}`);
  drawing.setAttribute("aria-label", say("dotsLabel", { count: dots.length }));
  drawing.replaceChildren(
    ...[0, 0.5, 1].flatMap((share) => [
      svg("line", { class: "grid", x1: 44, x2: WIDTH / 2 - 8, y1: y(top_ms * share), y2: y(top_ms * share) }),
      svg("text", { x: 38, y: y(top_ms * share) + 4, "text-anchor": "end" }, String(Math.round(top_ms * share))),
    ]),
    ...Array.from({ length: most }, (_, i) => svg("text", { x: x(i + 1, 4), y: DOTS_HEIGHT - 22, "text-anchor": "middle" }, String(i + 1))),
    svg("text", { x: WIDTH / 4, y: DOTS_HEIGHT - 4, "text-anchor": "middle" }, say("dotsAxis")),
    ...[false, true].map((withPrefill) => svg("path", {
      class: withPrefill ? "dot with-prefill" : "dot",
      d: dots.map((dot, i) => (dot.withPrefill === withPrefill ? `M${x(dot.served, i).toFixed(1)} ${y(dot.ms).toFixed(1)}h.01` : "")).join(""),
    })),
  );
}

/** @param {string} name @returns {SVGElement} */
export function drawingOf(name) {
  return svg("svg", { class: name, role: "img" });
}

// Private

/** Says whose question is the long one, where its row has room. @param {number} from @param {number} to @param {number} y */
function longMark(from, to, y) {
  const place = to < WIDTH - 130 ? { x: to + 8, "text-anchor": "start" } : { x: Math.max(from - 8, LEFT + 110), "text-anchor": "end" };
  return svg("text", { class: "long", y, ...place }, say("longMark"));
}

/** The one axis of a run. @param {UsersChart} chart */
function axisOf({ now_ms, totals }) {
  const axis_ms = Math.max(2000, totals?.total_ms ?? now_ms * 1.05);
  const step = STEPS_MS.find((candidate) => axis_ms / candidate <= 10) ?? 60_000;
  return {
    x: (/** @type {number} */ ms) => LEFT + (Math.min(ms, axis_ms) / axis_ms) * (WIDTH - LEFT - 4),
    marks: Array.from({ length: Math.floor(axis_ms / step) + 1 }, (_, i) => i * step),
  };
}
