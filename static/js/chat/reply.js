/**
 * One reply's life in the page: what it is now, and what each event makes of it. Times are handed in,
 * nothing is drawn, nothing is sent: all of it can be tested with a list of events.
 *
 *   asking → queued → prefill → reading → done
 *      any of the first four → stopped (the reader's wish, or nobody came for it) | failed
 *
 * A record is changed in place, because it grows with every word; only this module changes it.
 *
 * @typedef {"asking" | "queued" | "prefill" | "reading" | "done" | "stopped" | "failed"} State
 * @typedef {"streamed" | "whole"} Mode
 * @typedef {import("../measure/numbers.js").Arrival} Arrival
 * @typedef {object} Reply
 * @property {string} id chosen here; asking twice with one id starts one generation
 * @property {Mode} mode
 * @property {State} state
 * @property {string} text everything that has arrived and was kept
 * @property {number} seq the last piece that `text` contains; resuming begins after it
 * @property {string | null} reply the server's name for it, once it is known
 * @property {number} position in the line at the door
 * @property {number} asked_epoch_ms the click on the computer's clock, only for bridging a reload
 * @property {Arrival[]} arrivals
 * @property {number | null} firstPaint_ms
 * @property {number | null} lastPaint_ms
 * @property {number | null} ended_ms when nothing more was to come
 * @property {number | null} tokens
 * @property {import("../events.js").Timings | null} timings
 * @property {string | null} finish the server's reason
 * @property {{ code: string, message: string, retryable: boolean } | null} error
 * @property {import("./settings.js").Settings} [settings] what was asked for; old records have none
 * @property {string | null} [continues] the version whose text this one began with and goes on from
 * @property {{ hidden: boolean, resumed: boolean, along?: boolean, reconnected: boolean, away?: boolean }} flags `resumed`:
 *   this page did not see its beginning; `along`: another page asked for it; `away`: the server has given it up
 * @property {import("../measure/waterfall.js").Trace | null} [trace] stamps for the waterfall; none of a resumed reply
 * @property {import("../measure/token_bytes.js").SeenToken[]} [seen] every token, where they were asked for
 * @property {import("../measure/even_pace.js").Added | null} [smoothing] what even pacing has added
 * @property {string | null} [waits] why the model waits just now: the wire's `paused`
 * @property {import("../events.js").Done} [late] its end, not shown yet
 * @property {number} [begun] characters of `text` that are of the version it continues
 * @property {number | null} [told] characters that were told again from the beginning; null: none
 */

import { countWords } from "../measure/words_read.js";

/** What ended so long ago was not stopped in another tab just now: nobody was there for it. */
const LONG_AGO_MS = 5000;

/** So many tokens are kept for looking into; a longer reply shows its beginning. */
export const MAX_SEEN = 2048;

/** @param {string} id @param {Mode} mode @param {number} asked_epoch_ms @returns {Reply} */
export function newReply(id, mode, asked_epoch_ms) {
  return {
    id, mode, asked_epoch_ms,
    state: "asking", text: "", seq: 0, reply: null, position: 0, arrivals: [], firstPaint_ms: null,
    lastPaint_ms: null, ended_ms: null, tokens: null, timings: null, finish: null, error: null,
    flags: { hidden: false, resumed: false, along: false, reconnected: false, away: false },
  };
}

/** @param {Reply} reply */
export const isLive = (reply) => ["asking", "queued", "prefill", "reading"].includes(reply.state);

/** @param {Reply} reply @param {import("../events.js").ServerEvent} event whether the event is about it */
export function isAbout(reply, event) {
  if ("id" in event && event.id === reply.id) return true;
  return "reply" in event && event.reply !== undefined && event.reply === reply.reply;
}

/**
 * @param {Reply} reply
 * @param {import("../events.js").ServerEvent} event
 * @param {number} at_ms after the click
 * @returns {string} the text that is new, "" for most events
 */
export function hear(reply, event, at_ms) {
  if (event.type === "queued" || event.type === "started") reply.reply = event.reply;
  // What comes after Stop is counted, never shown: the text stays what the reader saw.
  if (!isLive(reply)) {
    if (reply.state === "stopped" && event.type === "done") takeCounts(reply, event);
    return "";
  }
  switch (event.type) {
    case "queued":
      if (reply.state !== "reading") reply.state = "queued";
      reply.position = event.position;
      return "";
    case "started":
      if (reply.state !== "reading") reply.state = "prefill";
      // The place where this page was is gone: the whole text comes once more.
      reply.told = event.recovered === false ? 0 : null;
      return "";
    case "delta":
      return takeText(reply, event, at_ms);
    case "paused":
    case "resumed":
      reply.waits = event.type === "paused" ? event.reason : null;
      return "";
    case "done":
      takeCounts(reply, event);
      reply.waits = null;
      reply.state = event.finish_reason === "cancelled" ? "stopped" : "done";
      reply.flags.away = reply.state === "stopped"
        && (reply.told != null || (reply.flags.resumed && at_ms - event.t > LONG_AGO_MS));
      return "";
    case "error":
      // Who comes back too late asks for what is no more: nothing has failed.
      if (event.code !== "not_found" || reply.reply === null || !reply.flags.resumed) failWith(reply, event);
      else stopAt(reply, reply.text, true);
      return "";
    default:
      return "";
  }
}

/** The reader pressed Stop, or was away. @param {Reply} reply @param {string} shown what was on the screen @param {boolean} [away] */
export function stopAt(reply, shown, away = false) {
  reply.state = "stopped";
  reply.flags.away = away;
  reply.text = shown;
  reply.waits = null;
}

/** @param {Reply} reply @param {{ code: string, message: string, retryable: boolean }} error */
export function failWith(reply, { code, message, retryable }) {
  reply.state = "failed";
  reply.waits = null;
  reply.error = { code, message, retryable };
}

// Private

/** @param {Reply} reply @param {import("../events.js").Delta} delta @param {number} at_ms */
function takeText(reply, delta, at_ms) {
  const again = reply.told ?? null;
  if (again === null && delta.seq <= reply.seq) return "";
  const { text, tokens, info } = again === null ? delta : beyond(reply, delta, again);
  reply.seq = Math.max(reply.seq, delta.seq);
  reply.state = "reading";
  reply.text += text;
  for (const { token_id, data, logprob, top = [] } of info ?? []) {
    if ((reply.seen ??= []).length < MAX_SEEN) reply.seen.push({ id: token_id, data, logprob, top, at_ms, t: delta.t });
  }
  // All at once of an answer without a word is a piece without text: nothing that could be read arrived.
  if (text === "") return "";
  if (reply.trace) reply.trace.first ??= { at_ms, released_t: delta.released ?? delta.t };
  reply.arrivals.push({ at_ms, words: countWords(text), tokens });
  return text;
}

/**
 * What this page has not had of a piece that tells the reply from its beginning.
 * @param {Reply} reply @param {import("../events.js").Delta} delta @param {number} again characters told before it
 * @returns {Pick<import("../events.js").Delta, "text" | "tokens" | "info">}
 */
function beyond(reply, { text, tokens, info = [] }, again) {
  const known = reply.text.length - (reply.begun ?? 0) - again;
  reply.told = again + text.length;
  if (known <= 0) return { text, tokens, info };
  const counted = reply.arrivals.reduce((sum, arrival) => sum + arrival.tokens, 0);
  return { text: text.slice(known), tokens: Math.max(0, tokens - counted), info: info.slice(reply.seen?.length ?? 0) };
}

/** @param {Reply} reply @param {import("../events.js").Done} done */
function takeCounts(reply, done) {
  reply.finish = done.finish_reason;
  reply.tokens = done.usage?.completion_tokens ?? null;
  reply.timings = done.timings ?? null;
}
