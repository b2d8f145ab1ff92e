/**
 * How the open tail of a Markdown text is read before it is finished, without half-made markup
 * flickering: signs at the very end that may still become markup are held back for a moment, and
 * spans that are open get a closer. Nothing is lost: the true text is kept by the caller and read
 * unmended as soon as its block is finished. Pure.
 *
 * @typedef {{ text: string, openMath: boolean }} Mended
 */

/** Signs that alone on a last line may become a list, a heading, a rule, a table or a fence. */
const LONE_MARKERS = /(^|\n)[ \t>]*[-=*+_#|~`:>][-=*+_#|~`:> \t]*$/;
const LONE_NUMBER = /((?:^|\n)[ \t>]*\d{1,9})[.)][ \t]*$/;
/** A fence whose line is not complete: it is no paragraph, and its language is not known yet. */
const FORMING_FENCE = /(^|\n)[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:`{3,}|~{3,})[^`\n]*$/;
/** Signs at the end that may open or close a span with what comes next. */
const LOOSE_END = /[*_~`\\![<$&]+$/;

/**
 * @param {string} tail
 * @returns {Mended} the text to lex; `openMath`: its last formula is not complete yet
 */
export function mend(tail) {
  const kept = [FORMING_FENCE, LONE_MARKERS, LONE_NUMBER].reduce((text, rule) => text.replace(rule, "$1"), tail)
    .replace(LOOSE_END, "");
  const start = lastRunOfInline(kept);
  const { closers, openMath, cut } = openSpans(kept.slice(start));
  const body = cut === null ? kept : kept.slice(0, start + cut);
  if (!closers) return { text: body, openMath };
  const end = body.trimEnd().length;
  return { text: body.slice(0, end) + closers + body.slice(end), openMath };
}

// Private

/** @param {string} text @returns {number} where the last paragraph, item, cell or quote line begins */
function lastRunOfInline(text) {
  const blank = text.search(/\n[ \t]*\n(?![\s\S]*\n[ \t]*\n)/);
  let start = blank < 0 ? 0 : blank;
  const lines = /\n[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6}|\|)[ \t]?/g;
  lines.lastIndex = start;
  for (let match = lines.exec(text); match; match = lines.exec(text)) start = lines.lastIndex;
  if (start === 0) start = /^[ \t>]*(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]+/.exec(text)?.[0].length ?? 0;
  return start;
}

/**
 * What is open at the end of one run of inline text.
 * @param {string} run
 * @returns {{ closers: string, openMath: boolean, cut: number | null }} `cut`: text from there is hidden
 */
function openSpans(run) {
  /** @type {string[]} */
  const open = [];
  for (let at = 0; at < run.length; ) {
    const sign = /** @type {string} */ (run[at]);
    if (sign === "\\" && /[([]/.test(run[at + 1] ?? "")) {
      const closer = run[at + 1] === "(" ? "\\)" : "\\]";
      const end = run.indexOf(closer, at + 2);
      if (end < 0) return { closers: closer, openMath: true, cut: null };
      at = end + 2;
    } else if (sign === "\\") at += 2;
    else if (run.startsWith("$$", at)) {
      const end = run.indexOf("$$", at + 2);
      if (end < 0) return { closers: "$$", openMath: true, cut: null };
      at = end + 2;
    } else if (sign === "`") {
      const ticks = runLength(run, at);
      const end = findTicks(run, at + ticks, ticks);
      if (end < 0) return { closers: "`".repeat(ticks) + closersOf(open), openMath: false, cut: null };
      at = end + ticks;
    } else if (sign === "]" && run[at + 1] === "(") {
      const end = endOfTarget(run, at + 2);
      // An address that is not complete must not be clickable: the link's text alone is shown.
      if (end < 0) return { closers: `)${closersOf(open)}`, openMath: false, cut: at + 2 };
      at = end + 1;
    } else if (sign === "*" || sign === "_" || sign === "~") {
      const length = runLength(run, at);
      takeDelimiters(open, run, at, length);
      at += length;
    } else at += 1;
  }
  return { closers: closersOf(open), openMath: false, cut: null };
}

/**
 * One run of `*`, `_` or `~`: it closes what it can, and opens when a word follows.
 * @param {string[]} open @param {string} run @param {number} at @param {number} length
 */
function takeDelimiters(open, run, at, length) {
  const sign = /** @type {string} */ (run[at]);
  const before = run[at - 1] ?? " ";
  const after = run[at + length] ?? " ";
  let left = length;
  if (!/\s/.test(before)) {
    while (left > 0 && open.length) {
      const last = /** @type {string} */ (open.at(-1));
      if (last[0] !== sign || last.length > left) break;
      left -= last.length;
      open.pop();
    }
  }
  const opens = left > 0 && left <= 3 && !/\s/.test(after) && !/[\p{L}\p{N}]/u.test(before);
  if (opens && (sign !== "~" || left === 2)) {
    if (left === 3) open.push(sign.repeat(2), sign);
    else open.push(sign.repeat(left));
  }
}

/** @param {string[]} open */
function closersOf(open) {
  return [...open].reverse().join("");
}

/** @param {string} run @param {number} at */
function runLength(run, at) {
  let end = at;
  while (run[end] === run[at]) end += 1;
  return end - at;
}

/** @param {string} run @param {number} from @param {number} ticks */
function findTicks(run, from, ticks) {
  for (let at = run.indexOf("`", from); at >= 0; at = run.indexOf("`", at)) {
    const length = runLength(run, at);
    if (length === ticks) return at;
    at += length;
  }
  return -1;
}

/** @param {string} run @param {number} from @returns {number} where the link's `)` stands, or -1 */
function endOfTarget(run, from) {
  let depth = 0;
  for (let at = from; at < run.length; at += 1) {
    if (run[at] === "\\") at += 1;
    else if (run[at] === "(") depth += 1;
    else if (run[at] === ")" && depth-- === 0) return at;
  }
  return -1;
}
