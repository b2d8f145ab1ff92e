/** A level over time with its two marks and the times of pause: one reader's buffer, drawn as SVG. */

import { say } from "../words.js";
import { svg } from "./parts.js";

const WIDTH = 440;
const HEIGHT = 128;
const TOP = 18;
const BOTTOM = 108;

/**
 * @param {SVGElement} drawing
 * @param {{ name: string, ledger: import("../lab/ledger.js").Ledger, now_ms: number, axis_ms: number,
 *   top: number, high: number, low: number }} shown `top`: the highest level that any lane shows
 */
export function drawLevel(drawing, { name, ledger, now_ms, axis_ms, top, high, low }) {
  const x = (/** @type {number} */ ms) => (Math.min(ms, axis_ms) / axis_ms) * WIDTH;
  const y = (/** @type {number} */ count) => BOTTOM - (count / top) * (BOTTOM - TOP);
  const line = ledger.levels.map(({ at_ms, count }, i) => `${i ? "L" : "M"}${x(at_ms).toFixed(1)} ${y(count).toFixed(1)}`).join("") + `H${x(now_ms).toFixed(1)}`;
  drawing.replaceChildren(
    ...ledger.pauses.map(({ from_ms, to_ms }) => svg("rect", { class: "pause", x: x(from_ms), y: TOP, width: Math.max(1, x(to_ms ?? now_ms) - x(from_ms)), height: BOTTOM - TOP })),
    svg("path", { class: "area", d: `${line}V${BOTTOM}H0Z` }),
    ...[high, low].map((mark) => svg("line", { class: "high-low", x1: 0, x2: WIDTH, y1: y(mark), y2: y(mark) })),
    svg("path", { class: "line", d: line }),
    svg("line", { class: "ground", x1: 0, x2: WIDTH, y1: BOTTOM, y2: BOTTOM }),
    svg("text", { x: 2, y: y(high) - 4 }, say("highMark", { value: high })),
    svg("text", { x: 2, y: y(low) - 4 }, say("lowMark", { value: low })),
    svg("text", { x: 0, y: HEIGHT - 2 }, "0"),
    svg("text", { x: WIDTH, y: HEIGHT - 2, "text-anchor": "end" }, say("seconds", { value: (axis_ms / 1000).toFixed(0) })),
  );
  drawing.setAttribute("aria-label", say("levelLabel", { name, most: ledger.most, now: ledger.unread }));
}

/** @returns {SVGElement} */
export function levelDrawing() {
  return svg("svg", { class: "level", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
}
