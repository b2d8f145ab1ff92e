/**
 * One reader of a reply on one wire, with every byte that came and when. Whatever the wire, it tells the
 * same things in the end: the pieces, the text, and how it ended, as far as this wire can say.
 *
 * @typedef {{ at_ms: number, bytes: Uint8Array, name: string }} Piece as the browser handed it over; `name`:
 *   of the kind of frame, where the wire has kinds
 * @typedef {{ kind: "waiting" | "done" | "error" | "broken" | "silent", message: string }} End
 *   `silent`: the connection ended, and nothing was said about the reply
 */

import { readFrame } from "../stream/frames.js";
import { LineParser } from "../stream/ndjson_parser.js";
import { SseParser } from "../stream/sse_parser.js";

/** So many pieces are kept to be shown; of all others only their sizes. */
const MAX_PIECES = 60;

export class RawWire {
  /** @type {Piece[]} */
  pieces = [];
  numPieces = 0;
  bodyBytes = 0;
  /** Around the bodies: heads of responses, sizes of chunks, heads of frames. */
  frameBytes = 0;
  text = "";
  /** @type {number | null} */
  first_ms = null;
  seq = 0;
  tokens = 0;
  /** @type {End} */
  end = { kind: "waiting", message: "" };

  /** @param {number} began_ms on performance.now */
  constructor(began_ms) {
    this.began_ms = began_ms;
  }

  get textBytes() {
    return new TextEncoder().encode(this.text).length;
  }

  /** @param {Uint8Array} bytes @param {string} [name] */
  keep(bytes, name = "") {
    const at_ms = performance.now() - this.began_ms;
    this.numPieces += 1;
    this.bodyBytes += bytes.length;
    if (this.pieces.length < MAX_PIECES) this.pieces.push({ at_ms, bytes, name });
    else this.pieces[MAX_PIECES - 1] = { at_ms, bytes, name };
  }

  /** @param {string} text */
  say(text) {
    if (text !== "") this.first_ms ??= performance.now() - this.began_ms;
    this.text += text;
  }

  /** @param {unknown} data one event as JSON */
  hear(data) {
    const event = readFrame(data);
    if (event?.type === "delta") {
      this.say(event.text);
      this.seq = event.seq;
      this.tokens += event.tokens;
    }
    if (event?.type === "done") this.end = { kind: "done", message: event.finish_reason };
    if (event?.type === "error") this.end = { kind: "error", message: event.message };
  }
}

/** Bytes before a WebSocket message from a server (RFC 6455, section 5.2). @param {number} size */
export const frameHead = (size) => (size < 126 ? 2 : size < 65_536 ? 4 : 10);

/** Bytes around a chunk of HTTP/1.1 (RFC 9112, section 7.1). @param {number} size */
export const chunkAround = (size) => size.toString(16).length + 4;

/** Bytes of a response's head, as far as a page can see it. @param {Response} response */
export function headBytes(response) {
  let bytes = `HTTP/1.1 ${response.status} ${response.statusText}\r\n\r\n`.length;
  response.headers.forEach((value, name) => (bytes += name.length + value.length + 4));
  return bytes;
}

/** What takes text cut anywhere and gives it to the wire: one for each media type. @type {Record<string, (wire: RawWire) => (text: string) => void>} */
export const HEARING = {
  "text/event-stream": (wire) => {
    const parser = new SseParser();
    return (text) => parser.push(text).forEach((data) => wire.hear(data));
  },
  "application/x-ndjson": (wire) => {
    const parser = new LineParser();
    return (text) => parser.push(text).forEach((line) => wire.hear(line));
  },
  "text/plain": (wire) => (text) => wire.say(text),
};
