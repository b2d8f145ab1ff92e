/**
 * The strip, drawn: the shape of measure/strip_shape.js as SVG, with its axis and its words for those
 * who do not see it. It draws whatever it is given, whenever it is asked; how often is the caller's. The
 * browser tells it its size, so drawing never forces a layout, and a strip far off the screen is drawn
 * when it comes near.
 *
 * @typedef {import("../measure/strip_shape.js").Arrival} Arrival
 * @typedef {{ arrivals: Arrival[], now_ms: number, ended: boolean, firstPaint_ms?: number | null,
 *   axis_ms?: number }} Drawn
 */

import { spellRoughly, spellTime } from "../measure/spelling.js";
import { axisFor, stripShape } from "../measure/strip_shape.js";
import { readingTime_ms } from "../measure/words_read.js";
import { say } from "../words.js";
import { fromTemplate, part, setText, svg } from "./parts.js";

/** So many units high is a strip in letters of the usual size; in larger ones all of it is larger. */
const UNITS = 75;

let patterns = 0;

export class Strip {
  /** @type {Drawn | null} */
  #last = null;
  #width = 0;
  #height = 0;
  #pattern = `hatch-${(patterns += 1)}`;

  constructor() {
    this.element = fromTemplate("strip-template");
    this.drawing = part(this.element, "drawing", SVGSVGElement);
    this.reading = part(this.element, "reading", HTMLElement);
    new ResizeObserver(([entry]) => this.#resized(/** @type {ResizeObserverEntry} */ (entry).contentRect)).observe(this.drawing);
  }

  /** @param {Drawn} reply */
  show(reply) {
    this.#last = { ...reply };
    this.#draw(this.#last);
  }

  // Private

  /** @param {{ width: number, height: number }} room */
  #resized({ width, height }) {
    const scale = Math.max(1, height / UNITS);
    this.#width = Math.round(width / scale);
    this.#height = Math.round(height / scale);
    if (this.#last) this.#draw(this.#last);
  }

  /** @param {Drawn} reply */
  #draw(reply) {
    this.#label(reply);
    const width = this.#width;
    const height = this.#height;
    if (width === 0) return;
    const axis_ms = reply.axis_ms ?? axisFor(reply.now_ms);
    const axisHeight = Math.round(height * 0.3);
    const shape = stripShape(reply, { width, height: height - axisHeight, axis_ms });
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.replaceChildren(...this.#axis(shape, height), ...this.#marks(shape, reply));
  }

  /** @param {import("../measure/strip_shape.js").StripShape} shape @param {number} height */
  #axis(shape, height) {
    const last = shape.marks.length - 1;
    return shape.marks.flatMap(({ x, ms }, i) => [
      svg("line", { class: "grid", x1: x + 1, x2: x + 1, y1: shape.top, y2: shape.bottom + 8 }),
      svg("text", { class: "mark", x: x + 1, y: height - 3,
        "text-anchor": i === 0 ? "start" : i === last && x > shape.width - 20 ? "end" : "middle" }, markText(ms)),
    ]);
  }

  /**
   * @param {import("../measure/strip_shape.js").StripShape} shape
   * @param {{ ended: boolean, arrivals: Arrival[] }} reply
   */
  #marks({ wait, ticks, end, reading, top, bottom }, { arrivals }) {
    const marks = [
      svg("defs", {}, svg("pattern", { id: this.#pattern, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
        svg("rect", { class: "hatch", width: 3.2, height: 7 }))),
      svg("line", { class: "ground", x1: 0, x2: "100%", y1: bottom + 0.5, y2: bottom + 0.5 }),
      svg("rect", { class: "wait", x: 0.5, y: top + 0.5, width: Math.max(1, wait), height: bottom - top - 1, fill: `url(#${this.#pattern})` }),
      svg("path", { class: arrivals.length === 1 ? "ticks single" : "ticks", d: ticks }),
    ];
    if (reading) {
      marks.push(svg("line", { class: "reading", x1: reading.from + 1, x2: reading.to, y1: bottom + 4.5, y2: bottom + 4.5 }));
    }
    if (end !== null) marks.push(svg("rect", { class: "end", x: end + 2, y: top, width: 3, height: bottom - top, rx: 1 }));
    return marks;
  }

  /** @param {Drawn} reply */
  #label({ arrivals, now_ms, ended, firstPaint_ms }) {
    const words = arrivals.reduce((sum, arrival) => sum + arrival.words, 0);
    const takes = spellRoughly(readingTime_ms(words));
    setText(this.reading, words > 0 ? say("readingTakes", { time: takes }) : "");
    if (!ended) return;
    const first = arrivals[0];
    this.drawing.setAttribute("aria-label", !first ? say("stripEmpty") : say("stripLabel", {
      wait: spellTime(Math.max(first.at_ms, firstPaint_ms ?? 0)), total: spellTime(now_ms), reading: takes,
      arrivals: say("arrivals", { count: arrivals.length }),
    }));
  }
}

// Private

/** @param {number} ms */
function markText(ms) {
  return ms >= 60_000 && ms % 60_000 === 0 ? say("minutes", { value: ms / 60_000 }) : say("seconds", { value: ms / 1000 });
}
