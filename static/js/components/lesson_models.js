/**
 * The lesson's pictures that are models or measurements: the parts of a wait, the desk, the two marks.
 */

import { byIteration, byRequest, credit, EXAMPLE } from "../learn/models.js";
import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { caption } from "./lesson_strips.js";
import { slider } from "./lesson_slider.js";
import { element, setText, svg } from "./parts.js";

/** @typedef {{ label: string, queue_ms: number, prefill_ms: number, rest_ms: number, cached: number }} Wait */

const WIDTH = 640;

/** @param {HTMLElement} figure @param {Wait[]} recorded @returns {(waits: Wait[]) => void} shows measured ones instead */
export function mountApart(figure, recorded) {
  const bars = element("div", "bars");
  const parts = /** @type {const} */ (["queue", "prefill", "rest"]);
  const key = element("p", "key", ...parts.map((name) => element("span", `key-${name}`, say(spoken(name)))));
  const show = (/** @type {Wait[]} */ waits) => {
    const longest = Math.max(1, ...waits.map((wait) => wait.queue_ms + wait.prefill_ms + wait.rest_ms));
    bars.replaceChildren(...waits.flatMap((wait) => {
      const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} 22`, preserveAspectRatio: "none", role: "img" });
      let x = 0;
      for (const name of parts) {
        const width = (wait[`${name}_ms`] / longest) * WIDTH;
        drawing.append(svg("rect", { class: `part-${name}`, x, y: 1, width: Math.max(0, width), height: 20 }));
        x += width;
      }
      const told = parts.map((name) => `${say(spoken(name))} ${spellTime(wait[`${name}_ms`])}`).join(", ");
      drawing.setAttribute("aria-label", told);
      const cached = wait.cached > 0 ? ` · ${say("apartCached", { count: wait.cached })}` : "";
      return [element("p", "bar-name", `${wait.label} · ${spellTime(wait.queue_ms + wait.prefill_ms + wait.rest_ms)}${cached}`), drawing];
    }));
  };
  figure.append(caption("demoApart"), bars, key, element("p", "demo-note", say("apartNote")));
  show(recorded);
  return show;
}

/** @param {HTMLElement} figure */
export function mountBatch(figure) {
  const rows = element("div", "charts");
  const slots = slider({ min: 1, max: 4, step: 1, value: 2, label: (count) => say("batchSlots", { count }) }, (count) => {
    const charts = [{ word: "byRequest", made: byRequest(EXAMPLE, count) }, { word: "byIteration", made: byIteration(EXAMPLE, count) }];
    const steps = Math.max(...charts.flatMap(({ made }) => made.flat())) + 1;
    rows.replaceChildren(...charts.flatMap(({ word, made }) => {
      const waits = made.map((tokens, i) => (tokens[0] ?? 0) - (EXAMPLE[i]?.arrives ?? 0)).join(", ");
      return [element("h3", "", say(word)), chart(made, steps), element("p", "demo-note", say("batchWaits", { waits }))];
    }));
  });
  figure.append(caption("demoBatch"), rows, slots);
}

/** @param {HTMLElement} figure */
export function mountCredit(figure) {
  const [high, low, tokens, height] = [64, 16, 300, 150];
  const drawing = svg("svg", { class: "credit", viewBox: `0 0 ${WIDTH} ${height}`, role: "img" });
  const verdict = element("p", "demo-verdict");
  const y = (/** @type {number} */ count) => height - 6 - (count / (high * 1.15)) * (height - 12);
  const speed = slider({ min: 1, max: 24, step: 1, value: 8, label: (count) => say("readerSpeed", { count }) }, (readPerSecond) => {
    const run = credit({ tokens, high, low, readPerSecond });
    const x = (/** @type {number} */ at_ms) => (at_ms / Math.max(1, run.total_ms)) * WIDTH;
    const line = run.unread.map(({ at_ms, count }, i) => `${i ? "L" : "M"}${x(at_ms).toFixed(1)} ${y(count).toFixed(1)}`).join("");
    drawing.replaceChildren(
      svg("path", { class: "unread", d: line }),
      ...[{ mark: high, word: "creditHigh" }, { mark: low, word: "creditLow" }].flatMap(({ mark, word }) => [
        svg("line", { class: "mark-line", x1: 0, x2: WIDTH, y1: y(mark), y2: y(mark) }),
        svg("text", { class: "mark", x: WIDTH - 4, y: y(mark) - 5, "text-anchor": "end" }, `${say(word)} ${mark}`),
      ]),
    );
    const text = say("creditNote", { pauses: say("creditPauses", { count: run.pauses }), tokens, total: spellTime(run.total_ms), most: run.most });
    drawing.setAttribute("aria-label", text);
    setText(verdict, text);
  });
  figure.append(caption("demoCredit"), drawing, speed, verdict);
}

// Private

/** @param {"queue" | "prefill" | "rest"} name @returns {string} its word */
function spoken(name) {
  return { queue: "apartQueue", prefill: "apartPrefill", rest: "apartRest" }[name];
}

/** @param {number[][]} made @param {number} steps */
function chart(made, steps) {
  const row = 22;
  const x = (/** @type {number} */ step) => (step / steps) * WIDTH;
  const drawing = svg("svg", { class: "gantt", viewBox: `0 0 ${WIDTH} ${made.length * row}`, role: "img" });
  drawing.setAttribute("aria-label", made.map((tokens) => tokens[0] ?? 0).join(", "));
  made.forEach((tokens, i) => {
    const arrives = EXAMPLE[i]?.arrives ?? 0;
    drawing.append(
      svg("rect", { class: "wait", x: x(arrives), y: i * row + 4, width: Math.max(0, x((tokens[0] ?? 1) - 1) - x(arrives)), height: row - 8 }),
      ...tokens.map((step) => svg("rect", { class: "token", x: x(step - 1) + 0.8, y: i * row + 4, width: Math.max(1, x(1) - 1.6), height: row - 8, rx: 1.5 })),
    );
  });
  return drawing;
}
