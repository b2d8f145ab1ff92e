/**
 * Text of a server-sent event stream, cut anywhere → the data of its complete events. Our own
 * parser rather than EventSource: that one can neither POST nor be told apart from its own reconnects.
 * The text must come from one streaming TextDecoder, so that no character is cut. Pure.
 */

/** Longest event kept; a longer one can only be an error, and nothing here is unbounded. */
const MAX_EVENT_CHARS = 1_048_576;

export class SseParser {
  #rest = "";
  /** @type {string[]} */
  #data = [];
  #afterReturn = false;

  /**
   * @param {string} text the next piece
   * @returns {string[]} the `data` of every event that this piece completed
   */
  push(text) {
    // A line ends in CR, LF or CRLF; a CR at the end of one piece may be half of a CRLF.
    const whole = this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    if (text !== "") this.#afterReturn = text.endsWith("\r");
    const lines = (this.#rest + whole).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > MAX_EVENT_CHARS) throw new Error("an event of the answer is too long");
    return lines.flatMap((line) => this.#take(line));
  }

  // Private

  /** @param {string} line @returns {string[]} */
  #take(line) {
    if (line === "") {
      const data = this.#data;
      this.#data = [];
      return data.length ? [data.join("\n")] : [];
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field === "data") this.#data.push(colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, ""));
    if (this.#data.length > MAX_EVENT_CHARS) throw new Error("an event of the answer is too long");
    return [];
  }
}
