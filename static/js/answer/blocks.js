/**
 * Where a Markdown text that is still growing may be cut into finished blocks and one open tail.
 *
 * A block is finished when nothing that can still arrive changes how it is read: a paragraph after its
 * blank line, a heading after its line, a code fence after its closing fence, a list only when a line
 * arrives that cannot belong to it. The work is bounded by the tail: each line is looked at once.
 * Concatenated, the pieces are the text again, whatever the chunking. Pure; it knows no HTML.
 *
 * @typedef {{ kind: "prose" | "code" | "math", source: string }} Block
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const LIST_ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const MAYBE_LIST_ITEM = /^\s{0,3}(?:[-*+]|\d{1,9}[.)]?)?$/;
const HEADING = /^ {0,3}#{1,6}(?:\s|$)/;
const MATH_OPENS = /^ {0,3}(?:\$\$|\\\[)/;

export class BlockSplitter {
  /** Text of the block that is still open, its last line perhaps incomplete. */
  tail = "";
  /** What the tail is, as far as is known. */
  kind = /** @type {Block["kind"]} */ ("prose");
  #lineStart = 0;
  #isList = false;
  #afterBlank = false;
  /** The marker that closes the open fence, also of a fence inside a list. */
  #fence = "";

  /**
   * @param {string} text the next piece
   * @returns {Block[]} blocks that are finished now; what is open stands in `tail`
   */
  push(text) {
    this.tail += text;
    /** @type {Block[]} */
    const finished = [];
    for (;;) {
      const end = this.tail.indexOf("\n", this.#lineStart);
      if (end < 0) break;
      this.#takeLine(this.tail.slice(this.#lineStart, end), end + 1, finished);
    }
    this.#peek(finished);
    return finished;
  }

  /** @returns {Block[]} the open rest, at the end of the text */
  end() {
    /** @type {Block[]} */
    const finished = [];
    this.#cut(this.tail.length, finished);
    return finished;
  }

  // Private

  /**
   * A line is complete. It may end the block before it, or its own.
   * @param {string} line without its newline
   * @param {number} next where the following line begins
   * @param {Block[]} finished
   */
  #takeLine(line, next, finished) {
    if (this.#fence) {
      this.#lineStart = next;
      if (closesFence(line, this.#fence)) {
        this.#fence = "";
        if (this.kind === "code") this.#cut(next, finished);
      }
      return;
    }
    if (this.kind === "math") {
      this.#lineStart = next;
      if (/(?:\$\$|\\\])\s*$/.test(line)) this.#cut(next, finished);
      return;
    }
    if (line.trim() === "") {
      this.#lineStart = next;
      this.#afterBlank = this.tail.slice(0, next).trim() !== "";
      return;
    }
    if (this.#beginsBlock(line)) next -= this.#cut(this.#lineStart, finished);
    this.#afterBlank = false;
    this.#enter(line);
    this.#lineStart = next;
    if (!this.#isList && HEADING.test(line)) this.#cut(next, finished);
    else if (this.#isMath() && closesOnItsLine(line)) this.#cut(next, finished);
  }

  /**
   * The first signs of an incomplete line can already show that the block before it is over.
   * @param {Block[]} finished
   */
  #peek(finished) {
    const line = this.tail.slice(this.#lineStart);
    if (this.#fence || this.kind === "math" || line.trim() === "") return;
    if (this.#afterBlank && !MAYBE_LIST_ITEM.test(line) && this.#beginsBlock(line)) {
      this.#cut(this.#lineStart, finished);
    }
  }

  /** @param {string} line @returns {boolean} whether it cannot belong to the block before it */
  #beginsBlock(line) {
    const opensOther = FENCE.test(line) || HEADING.test(line) || MATH_OPENS.test(line);
    if (this.#isList) {
      if (/^(?: {2}|\t)/.test(line)) return false;
      return opensOther || (this.#afterBlank && !LIST_ITEM.test(line));
    }
    const indentedGoesOn = /^ {4}|^\t/.test(line) && /^(?: {4}|\t)/.test(this.tail);
    return opensOther || (this.#afterBlank && !indentedGoesOn);
  }

  /** @param {string} line the first or a further line of the open block */
  #enter(line) {
    const isFirst = this.tail.slice(0, this.#lineStart).trim() === "";
    if (isFirst) this.#isList = LIST_ITEM.test(line);
    const fence = FENCE.exec(this.#isList ? line.trimStart().replace(LIST_ITEM, "") : line);
    if (fence && !(fence[1]?.startsWith("`") && fence[2]?.includes("`"))) {
      this.#fence = /** @type {string} */ (fence[1]);
      if (!this.#isList && isFirst) this.kind = "code";
    } else if (isFirst && !this.#isList && MATH_OPENS.test(line)) this.kind = "math";
  }

  /** Asked by a method, for a checker that does not see that `#enter` changes it. */
  #isMath() {
    return this.kind === "math";
  }

  /**
   * Everything before `end` is a finished block.
   * @param {number} end
   * @param {Block[]} finished
   * @returns {number} how much was cut
   */
  #cut(end, finished) {
    const source = this.tail.slice(0, end);
    if (source !== "") finished.push({ kind: this.kind, source });
    this.tail = this.tail.slice(end);
    this.#lineStart = 0;
    this.#isList = false;
    this.#afterBlank = false;
    this.kind = "prose";
    return end;
  }
}

/**
 * The parts of a code block's source, finished or not. A line that may be the closing fence is not
 * code yet, and a fence line is not known before its newline.
 * @param {string} source
 * @param {boolean} open whether more may come
 * @returns {{ language: string, code: string }}
 */
export function readFence(source, open) {
  const first = source.indexOf("\n");
  const head = FENCE.exec(first < 0 ? source : source.slice(0, first));
  const marker = head?.[1] ?? "```";
  const language = (head?.[2] ?? "").trim().split(/\s+/)[0] ?? "";
  if (first < 0) return { language: open ? "" : language, code: "" };
  const lines = source.slice(first + 1).split("\n");
  const last = lines.length - 1;
  const lastLine = /** @type {string} */ (lines[last]);
  if (open) {
    // Hold back what may become the closing fence.
    if (lastLine !== "" && /^ {0,3}(`*|~*)$/.test(lastLine) && lastLine.trim()[0] === marker[0]) lines[last] = "";
  } else {
    const closing = lastLine.trim() === "" && last > 0 ? last - 1 : last;
    if (closesFence(/** @type {string} */ (lines[closing]), marker)) lines.length = closing;
    else if (lastLine === "") lines.length = last;
    return { language, code: lines.length ? `${lines.join("\n")}\n` : "" };
  }
  return { language, code: lines.join("\n") };
}

/** @param {string} line @param {string} marker */
function closesFence(line, marker) {
  const sign = marker[0] === "`" ? "`" : "~";
  const run = line.trim();
  return run.length >= marker.length && run === sign.repeat(run.length) && !/^ {4}/.test(line);
}

/** @param {string} line a line that opens display math */
function closesOnItsLine(line) {
  const text = line.trim();
  return text.length > 4 && (text.startsWith("$$") ? /\$\$\s*$/ : /\\\]\s*$/).test(text.slice(2));
}
