/**
 * How first words spread over the class, drawn: the phones upwards, the server's share downwards. It draws
 * what it is given into the size that the browser tells it.
 */

import { median } from "../measure/numbers.js";
import { spellTime } from "../measure/spelling.js";
import { spreadShape } from "../rooms/spread.js";
import { say } from "../words.js";
import { part, setText, svg } from "./parts.js";

export class RoomSpread {
  /** @type {[number[], number[]]} */
  #last = [[], []];

  /** @param {HTMLElement} root @param {boolean} [brief] a short caption: its axis says the rest */
  constructor(root, brief = false) {
    const drawing = part(root, "spread", SVGSVGElement);
    this.drawing = drawing;
    this.caption = part(root, "spread-caption", HTMLElement);
    this.brief = brief;
    new ResizeObserver(() => this.#draw()).observe(drawing);
  }

  /** @param {number[]} phones_ms @param {number[]} server_ms */
  show(phones_ms, server_ms) {
    this.#last = [phones_ms, server_ms];
    const words = phones_ms.length === 0 ? say("spreadEmpty") : say(this.brief ? "spreadBrief" : "spreadCaption", {
      count: phones_ms.length, middle: spellTime(median(phones_ms)), fastest: spellTime(Math.min(...phones_ms)),
      slowest: spellTime(Math.max(...phones_ms)), server: spellTime(median(server_ms)),
    });
    setText(this.caption, words);
    this.drawing.setAttribute("aria-label", words);
    this.#draw();
  }

  // Private

  #draw() {
    const { width, height } = this.drawing.getBoundingClientRect();
    if (width === 0 || height === 0) return;
    const text = parseFloat(getComputedStyle(this.drawing).fontSize);
    const [phones, server] = this.#last;
    const shape = spreadShape(phones, server, { width, height, text });
    const low = height - text * 0.4;
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.replaceChildren(
      ...shape.marks.map(({ x }) => svg("line", { class: "grid", x1: x, x2: x, y1: 4, y2: height - text * 1.5 })),
      ...shape.phones.map((bar) => svg("rect", { class: "phones", x: bar.x, y: bar.y, width: Math.max(2, bar.width), height: bar.height })),
      ...shape.server.map((bar) => svg("rect", { class: "server", x: bar.x, y: bar.y, width: Math.max(2, bar.width), height: bar.height })),
      svg("line", { class: "ground", x1: 0, x2: width, y1: shape.base, y2: shape.base }),
      ...(shape.median === null ? [] : [svg("line", { class: "median", x1: shape.median, x2: shape.median, y1: 0, y2: shape.base })]),
      ...shape.marks.map(({ x, ms }, i) => svg("text", { class: "mark", x, y: low, "text-anchor": i === 0 ? "start" : "middle" }, say("seconds", { value: ms / 1000 }))),
    );
  }
}
