/** The crowd, drawn: one row a user (waiting, prefill, decode), and every step's time over how many it served. */

import { begunAt } from "../lab/users_chart.js";
import { say } from "../words.js";
import { svg } from "./parts.js";

const WIDTH = 900;
const ROW = 20;
const AXIS = 22;
const LEFT = 34;
const STEPS_MS = [100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000];

/** @param {SVGElement} drawing @param {import("../lab/users_chart.js").UsersChart} chart */
export function drawGantt(drawing, { rows, now_ms, totals }) {
  const axis_ms = Math.max(2000, totals?.total_ms ?? now_ms * 1.05);
  const x = (/** @type {number} */ ms) => LEFT + (Math.min(ms, axis_ms) / axis_ms) * (WIDTH - LEFT - 4);
  const height = rows.length * ROW + AXIS;
  const step = STEPS_MS.find((candidate) => axis_ms / candidate <= 10) ?? 60_000;
  const marks = Array.from({ length: Math.floor(axis_ms / step) + 1 }, (_, i) => i * step);
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
      const bars = (/** @type {import("../lab/users_chart.js").Span[]} */ spans) => spans.map(({ from_ms, to_ms }) => `M${x(from_ms).toFixed(1)} ${y}H${Math.max(x(from_ms) + 1, x(to_ms)).toFixed(1)}v${ROW - 6}H${x(from_ms).toFixed(1)}z`).join("");
      return [
        svg("text", { x: LEFT - 8, y: y + ROW - 9, "text-anchor": "end" }, String(row.user.number)),
        ...(row.arrived_ms === null ? [] : [svg("rect", { class: "queue", x: x(row.arrived_ms), y: y + 4, width: Math.max(1, x(waited_ms) - x(row.arrived_ms)), height: ROW - 14 })]),
        svg("path", { class: "prefill", d: bars(row.prefill) }),
        svg("path", { class: "decode", d: bars(row.decode) }),
        ...(row.first_ms === null ? [] : [svg("path", { class: "first", d: `M${x(row.first_ms).toFixed(1)} ${y - 2}v${ROW - 2}` })]),
      ];
    }),
  );
}

const DOTS_HEIGHT = 200;

/** @param {SVGElement} drawing @param {import("../lab/users_chart.js").Dot[]} dots */
export function drawDots(drawing, dots) {
  const most = Math.max(4, ...dots.map(({ served }) => served));
  const times = dots.map(({ ms }) => ms).sort((a, b) => a - b);
  // The slowest hundredth would flatten all the others.
  const top_ms = Math.max(20, (times[Math.floor(times.length * 0.99)] ?? 0) * 1.15);
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
