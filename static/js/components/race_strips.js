/**
 * All lanes' strips in one drawing, with one axis, and their words for those who do not see them.
 */

import { spellTime } from "../measure/spelling.js";
import { lastWordOf, firstWordOf } from "../race/lane.js";
import { nameOf } from "../race/lane_words.js";
import { stripsShape } from "../race/strips_shape.js";
import { say } from "../words.js";
import { svg } from "./parts.js";

/** @typedef {import("../race/strips_shape.js").StripLane} StripLane */

export class RaceStrips {
  /** @type {{ lanes: StripLane[], axis_ms: number, moment_ms: number | null, wordsPerMinute: number } | null} */
  #last = null;

  /** @param {SVGSVGElement} drawing */
  constructor(drawing) {
    this.drawing = drawing;
    new ResizeObserver(() => this.#draw()).observe(/** @type {Element} */ (drawing.parentElement));
  }

  /** @param {{ lanes: StripLane[], axis_ms: number, moment_ms: number | null, wordsPerMinute: number }} picture */
  show(picture) {
    this.#last = picture;
    this.#draw();
  }

  /** Say in words what the finished strips show. @param {import("../race/lane.js").Lane[]} lanes */
  describe(lanes) {
    const each = lanes.map((lane) => {
      const first = firstWordOf(lane);
      if (first === null) return say("stripOfLaneEmpty", { lane: nameOf(lane) });
      const arrivals = say("arrivals", { count: lane.arrivals.length });
      return say("stripOfLane", { lane: nameOf(lane), wait: spellTime(first), arrivals, total: spellTime(lastWordOf(lane)) });
    });
    this.drawing.setAttribute("aria-label", say("stripsLabel", { lanes: each.join(" ") }));
  }

  // Private

  #draw() {
    const width = Math.round(this.drawing.parentElement?.getBoundingClientRect().width ?? 0);
    if (!this.#last || width === 0) return;
    const { lanes, ...rest } = this.#last;
    const style = getComputedStyle(this.drawing);
    const text = parseFloat(style.fontSize);
    const shape = stripsShape(lanes, { width, text, bar: text * parseFloat(style.getPropertyValue("--bar")), ...rest });
    this.drawing.setAttribute("viewBox", `0 0 ${shape.width} ${shape.height}`);
    this.drawing.setAttribute("height", String(shape.height));
    this.drawing.replaceChildren(hatch(text), ...axis(shape), ...shape.rows.flatMap((row) => rowMarks(row, shape)), ...moment(shape));
  }
}

// Private

/** @typedef {import("../race/strips_shape.js").StripsShape} StripsShape */

/** Hatching as coarse as the letters are large: it is to be seen from the last row. @param {number} text height of a letter */
function hatch(text) {
  const size = Math.max(8, Math.round(text * 0.54));
  return svg("defs", {}, svg("pattern", { id: "race-hatch", width: size, height: size, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    svg("rect", { class: "hatch", width: size / 2, height: size })));
}

/** @param {StripsShape} shape */
function axis({ marks, rows, height, width }) {
  const bottom = (rows.at(-1)?.bottom ?? 0) + 6;
  return marks.flatMap(({ x, ms }, i) => [
    svg("line", { class: "grid", x1: x, x2: x, y1: 2, y2: bottom }),
    svg("text", { class: "mark", x, y: height - 4, "text-anchor": i === 0 ? "start" : x > width - 30 ? "end" : "middle" }, say("seconds", { value: ms / 1000 })),
  ]);
}

/** @param {import("../race/strips_shape.js").Row} row @param {StripsShape} shape */
function rowMarks({ name, nameY, top, bottom, wait, ticks, single, end, reading }, { left, width }) {
  const marks = [
    svg("text", { class: "mark name", x: 0, y: nameY }, name),
    svg("line", { class: "ground", x1: left, x2: width, y1: bottom + 0.5, y2: bottom + 0.5 }),
    ...(wait > left ? [svg("rect", { class: "wait", x: left, y: top, width: wait - left, height: bottom - top, fill: "url(#race-hatch)" })] : []),
    svg("path", { class: single ? "ticks single" : "ticks", d: ticks }),
  ];
  if (reading) marks.push(svg("line", { class: "reading", x1: reading.from, x2: reading.to, y1: bottom + 4, y2: bottom + 4 }));
  if (end !== null) marks.push(svg("rect", { class: "end", x: end + 3, y: top, width: 3, height: bottom - top, rx: 1 }));
  return marks;
}

/** @param {StripsShape} shape the playhead, where it is in the past */
function moment({ moment: x, rows }) {
  if (x === null) return [];
  return [svg("line", { class: "moment", x1: x, x2: x, y1: 0, y2: (rows.at(-1)?.bottom ?? 0) + 6 })];
}
