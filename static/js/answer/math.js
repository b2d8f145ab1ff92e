/**
 * Formulas: how they are told from prices, as an extension of `marked`; and how they are drawn, as
 * MathML by Temml, which is fetched only when the first formula appears.
 *
 * Display: `$$…$$` and `\[…\]`. In a line: `\(…\)`, and `$…$` by pandoc's rule (no space inside the
 * dollars, no digit after the closing one), so that "$5 and $10" stays money.
 */

import { loadTemml } from "./libraries.js";
import { Jobs } from "./slices.js";

/** Longer sources are shown as they are: drawing them would freeze the page. */
const MAX_FORMULA_CHARS = 5000;

const drawings = new Jobs();

const BLOCK = /^ {0,3}(?:\$\$([\s\S]+?)\$\$|\\\[([\s\S]+?)\\\])[ \t]*(?:\n+|$)/;
const INLINE = [
  { rule: /^\$\$([^$]+?)\$\$/, display: "block" },
  { rule: /^\\\[([\s\S]+?)\\\]/, display: "block" },
  { rule: /^\\\(([\s\S]+?)\\\)/, display: "line" },
  { rule: /^\$(?=[^\s$])((?:\\.|[^$\\\n])*?[^\s\\$])\$(?![\d$])/, display: "line" },
  { rule: /^\$([^\s$\\])\$(?![\d$])/, display: "line" },
];

/** @returns {import("marked").MarkedExtension} */
export function mathExtension() {
  return {
    extensions: [
      {
        name: "blockMath",
        level: "block",
        start: (source) => source.match(/(?:^|\n) {0,3}(?:\$\$|\\\[)/)?.index,
        tokenizer(source) {
          const match = BLOCK.exec(source);
          return match ? { type: "blockMath", raw: match[0], text: (match[1] ?? match[2] ?? "").trim() } : undefined;
        },
      },
      {
        name: "inlineMath",
        level: "inline",
        start: (source) => source.match(/\$|\\[([]/)?.index,
        tokenizer(source) {
          for (const { rule, display } of INLINE) {
            const match = rule.exec(source);
            if (match) return { type: "inlineMath", raw: match[0], text: (match[1] ?? "").trim(), display };
          }
          return undefined;
        },
      },
    ],
  };
}

/**
 * Draw one formula into its element, which shows the source until then and keeps it when Temml is
 * missing or does not understand it.
 * @param {Element} element with `data-math` and `data-display`
 */
export function drawMath(element) {
  const source = element.getAttribute("data-math") ?? "";
  if (source.length <= MAX_FORMULA_CHARS) drawings.add(() => draw(element, source));
}

// Private

/** @param {Element} element @param {string} source */
async function draw(element, source) {
  const temml = await loadTemml();
  if (!temml) return;
  const drawn = document.createElement("span");
  try {
    temml.render(source, drawn, { displayMode: element.getAttribute("data-display") === "block", trust: false });
  } catch {
    return;
  }
  element.setAttribute("aria-label", source);
  element.replaceChildren(...drawn.childNodes);
}
