/**
 * Text of an NDJSON response, cut anywhere → its whole lines. The text must come from one streaming
 * TextDecoder, so that no character is cut. Pure.
 */

/** Longest line kept; a longer one can only be an error, and nothing here is unbounded. */
const MAX_LINE_CHARS = 1_048_576;

export class LineParser {
  #rest = "";

  /**
   * @param {string} text the next piece
   * @returns {string[]} the lines that this piece completed, without empty ones
   */
  push(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > MAX_LINE_CHARS) throw new Error("a line of the answer is too long");
    return lines.map((line) => line.replace(/\r$/, "")).filter((line) => line !== "");
  }

  /** @returns {string[]} what stands after the last newline, at the end of the response */
  end() {
    const last = this.#rest;
    this.#rest = "";
    return last === "" ? [] : [last];
  }
}
