/**
 * The same conversation over plain HTTP, for networks that refuse WebSockets: one streamed NDJSON
 * response a reply, told apart from a WebSocket only by its slower start. Several replies may come side
 * by side; where one response breaks or falls silent, that reply alone is asked for again. Progress needs
 * no acks here: what the browser has taken from the response is what the server counts.
 */

import { httpAddress } from "./address.js";
import { waitBeforeTry } from "./backoff.js";
import { readFrame } from "./frames.js";
import { LineParser } from "./ndjson_parser.js";

/**
 * @typedef {import("../events.js").ClientFrame} ClientFrame
 * @typedef {import("./socket_wire.js").Wire} Wire
 */

/** On a response that is quiet the server says every ten seconds that it is there; twice as long is a dead line. */
const SILENCE_MS = 20_000;
/** After a dead line the first sign of an answer has to come as soon, times the failures in a row. */
const SIGN_WITHIN_MS = 3000;

/** @implements {Wire} */
export class HttpWire {
  #failures = 0;
  #closed = false;
  /** Replies that are coming, by the page's name and by the server's. @type {Set<string>} */
  #coming = new Set();
  /** @type {Set<Line>} */
  #lines = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retryTimer;

  /**
   * @param {string} page the page's own address
   * @param {(event: import("../events.js").ServerEvent) => void} tell
   * @param {(state: import("./socket_wire.js").WireState) => void} tellState
   */
  constructor(page, tell, tellState) {
    this.page = page;
    this.tell = tell;
    this.tellState = tellState;
  }

  /** @param {ClientFrame} frame @returns {boolean} false: that reply is coming already, and nothing was asked */
  send(frame) {
    if (frame.type === "start") {
      if (this.#coming.has(frame.id)) return false;
      const { type: _, ...body } = frame;
      this.#read("api/replies", "POST", { ...body, acks: false }, frame.id);
    } else if (frame.type === "attach") {
      const { reply, after, pace } = frame;
      if (this.#coming.has(reply)) return false;
      this.#read(`api/replies/${encodeURIComponent(reply)}?after=${after}&pace=${pace}`, "GET", null, reply);
    } else if (frame.type === "stop") {
      const address = httpAddress(this.page, `api/replies/${encodeURIComponent(frame.reply)}`);
      fetch(address, { method: "DELETE" }).catch(() => {}); // The reply's own response tells if it failed.
    }
    return true;
  }

  probe() {}

  close() {
    this.#closed = true;
    clearTimeout(this.#retryTimer);
    for (const line of this.#lines) line.close();
  }

  // Private

  /**
   * @param {string} path @param {string} method @param {object | null} body
   * @param {string} id of the reply, for errors that come before it has one
   */
  async #read(path, method, body, id) {
    const names = new Set([id]);
    this.#coming.add(id);
    const line = new Line(this.#failures > 0 ? Math.min(SILENCE_MS, SIGN_WITHIN_MS * this.#failures) : SILENCE_MS);
    this.#lines.add(line);
    try {
      const response = await fetch(httpAddress(this.page, path), {
        method,
        signal: line.end.signal,
        headers: { accept: "application/x-ndjson", ...(body ? { "content-type": "application/json" } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      line.heard();
      if (this.#failures > 0) this.tellState({ kind: "open" });
      if (!response.ok || !response.body) return this.#refuse(await response.json(), id);
      const ended = await this.#readLines(response.body, names, line);
      if (!ended) throw new Error("the response ended before the reply did");
      this.#failures = 0;
    } catch {
      if (!this.#closed) this.#tryAgain();
    } finally {
      line.close();
      this.#lines.delete(line);
      for (const name of names) this.#coming.delete(name);
    }
  }

  #tryAgain() {
    const retry_ms = waitBeforeTry(this.#failures, Math.random);
    this.#failures += 1;
    this.tellState({ kind: "lost", retry_ms, failures: this.#failures });
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.tellState({ kind: "trying" }), retry_ms);
  }

  /**
   * @param {ReadableStream<Uint8Array>} body
   * @param {Set<string>} names of the reply; the server's own is learnt here
   * @param {Line} line
   * @returns {Promise<boolean>} whether the reply came to its end
   */
  async #readLines(body, names, line) {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const lines = new LineParser();
    let ended = false;
    /** @param {string[]} complete */
    const take = (complete) => {
      for (const line of complete) {
        const event = readFrame(line);
        if (!event) continue;
        if (event.type === "queued") {
          names.add(event.reply);
          this.#coming.add(event.reply);
        }
        this.tell(event);
        ended ||= event.type === "done" || event.type === "error";
      }
    };
    for (;;) {
      const { done, value } = await reader.read();
      line.heard();
      take(lines.push(decoder.decode(value, { stream: !done })));
      if (done) break;
    }
    take(lines.end());
    return ended;
  }

  /** @param {any} answer the error's JSON @param {string} id */
  #refuse(answer, id) {
    const { code = "error", message = "", retryable = false } = answer?.error ?? answer ?? {};
    this.tell({ type: "error", code, message, retryable, id, reply: id });
  }
}

// Private

/** A request's way here: given up when nothing has come on it for too long. */
class Line {
  end = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #silence;

  /** @param {number} first_ms patience until the first sign */
  constructor(first_ms) {
    this.heard(first_ms);
  }

  heard(silence_ms = SILENCE_MS) {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.end.abort(), silence_ms);
  }

  close() {
    clearTimeout(this.#silence);
    this.end.abort();
  }
}
