/** KV memory as rows of blocks: what is used, what paging holds, what reserving would hold. */

import { blocksFor } from "../lab/memory.js";
import { svg } from "./parts.js";

const WIDTH = 900;
const ROW = 22;

/**
 * @param {SVGElement} drawing
 * @param {import("../lab/memory.js").Held[]} sequences
 * @param {number} block tokens in one
 */
export function drawMemory(drawing, sequences, block) {
  const widest = Math.max(1, ...sequences.map(({ most }) => blocksFor(most, block)));
  const wide = Math.min(28, WIDTH / widest);
  drawing.setAttribute("viewBox", `0 0 ${WIDTH} ${sequences.length * ROW}`);
  drawing.replaceChildren(...sequences.flatMap(({ used, most }, row) => {
    const y = row * ROW + 3;
    const held = blocksFor(used, block);
    return [
      svg("rect", { class: "reserved", x: 0.5, y, width: blocksFor(most, block) * wide - 1, height: ROW - 6 }),
      ...Array.from({ length: held }, (_, i) => svg("rect", { class: "block", x: i * wide + 1, y, width: wide - 2, height: ROW - 6 })),
      ...Array.from({ length: held }, (_, i) => {
        const full = Math.min(1, (used - i * block) / block);
        return svg("rect", { class: "filled", x: i * wide + 1, y, width: Math.max(0, (wide - 2) * full), height: ROW - 6 });
      }),
    ];
  }));
}

/** @returns {SVGElement} */
export function memoryDrawing() {
  return svg("svg", { class: "memory", "aria-hidden": "true" });
}
