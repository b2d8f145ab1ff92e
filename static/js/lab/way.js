/**
 * One way from the server to this page: the reply's NDJSON, and for each piece that the browser handed
 * over, when it came and what was in it. Pieces are what the network made of the events: what comes
 * together, or within one frame of the screen, is one arrival.
 *
 * @typedef {import("../measure/numbers.js").Arrival} Arrival
 */

import { countWords } from "../measure/words_read.js";
import { httpAddress } from "../stream/address.js";
import { Failed } from "../stream/failure.js";
import { readFrame } from "../stream/frames.js";
import { LineParser } from "../stream/ndjson_parser.js";
import { readText, refusalOf } from "../stream/one_request.js";
import { say } from "../words.js";

/** One frame of a screen: what comes within it nobody sees apart. */
const SAME_MOMENT_MS = 16;

export class Way {
  /** @type {Arrival[]} */
  arrivals = [];
  text = "";
  ended = false;
  last_ms = 0;

  /**
   * Read until the reply's end.
   * @param {string} page the page's own address @param {string} path
   * @param {number} began_ms on performance.now
   * @param {AbortSignal} signal
   */
  async read(page, path, began_ms, signal) {
    const response = await fetch(httpAddress(page, path), { signal, headers: { accept: "application/x-ndjson" }, cache: "no-store" });
    if (!response.ok) throw new Failed(await refusalOf(response));
    const lines = new LineParser();
    await readText(response, (text) => this.take(lines.push(text), performance.now() - began_ms));
    if (!this.ended) throw new Failed({ code: "connection_lost", message: say("unfinished") });
  }

  /** One piece of the network, as its whole lines. @param {string[]} lines @param {number} at_ms */
  take(lines, at_ms) {
    let [words, tokens] = [0, 0];
    for (const line of lines) {
      const event = readFrame(line);
      if (event?.type === "delta") {
        words += countWords(event.text);
        tokens += event.tokens;
        this.text += event.text;
      }
      if (event?.type === "error") throw new Failed(event);
      if (event?.type === "done") {
        this.ended = true;
        this.last_ms = at_ms;
      }
    }
    if (tokens === 0) return;
    const last = this.arrivals.at(-1);
    if (last && at_ms - last.at_ms < SAME_MOMENT_MS) {
      last.words += words;
      last.tokens += tokens;
    } else this.arrivals.push({ at_ms, words, tokens });
  }
}
