/**
 * A reply from somebody's file → a reply as this page keeps it: its text and times, and what stands
 * behind its numbers (the waterfall's stamps, the tokens, what smoothing added). Every field is checked,
 * and what is unknown is dropped. Pure.
 *
 * @typedef {import("./reply.js").Reply} Reply
 */

import { MAX_SEEN, isLive, newReply } from "./reply.js";
import { readSettings } from "./settings.js";
import { Unreadable, orNull, readChoice, readFinite, readId, readList, readObject, readText } from "./untrusted.js";

export const MAX_TEXT_CHARS = 1_000_000;
const MAX_ARRIVALS = 50_000;
const MAX_ALTERNATIVES = 20;
/** A token's bytes in base64: no vocabulary has a longer one. */
const MAX_DATA_CHARS = 4096;

/** A reply of a file is over, whatever it says: its generation belongs to another browser.
 * @param {unknown} raw @param {string} where @returns {Reply} */
export function readReply(raw, where) {
  const value = readObject(raw, where);
  const number = (/** @type {string} */ name) => orNull(value[name], (it) => readFinite(it, `${where}.${name}`));
  const reply = newReply(
    readId(value.id, `${where}.id`),
    readChoice(value.mode, `${where}.mode`, /** @type {const} */ (["streamed", "whole"])),
    readFinite(value.asked_epoch_ms, `${where}.asked_epoch_ms`, 0),
  );
  const state = readChoice(value.state, `${where}.state`,
    /** @type {const} */ (["asking", "queued", "prefill", "reading", "done", "stopped", "failed"]));
  Object.assign(reply, {
    state: isLive({ ...reply, state }) ? "stopped" : state,
    text: readText(value.text, `${where}.text`, MAX_TEXT_CHARS),
    seq: number("seq") ?? 0,
    arrivals: readList(value.arrivals ?? [], `${where}.arrivals`, MAX_ARRIVALS).map((it, i) => readArrival(it, `${where}.arrivals[${i}]`)),
    firstPaint_ms: number("firstPaint_ms"),
    lastPaint_ms: number("lastPaint_ms"),
    ended_ms: number("ended_ms") ?? number("lastPaint_ms") ?? 0,
    tokens: number("tokens"),
    timings: orNull(value.timings, (it) => readTimings(it, `${where}.timings`)),
    finish: orNull(value.finish, (it) => readText(it, `${where}.finish`, 40)),
    error: orNull(value.error, (it) => readError(it, `${where}.error`)),
    settings: readSettings(value.settings).settings,
    continues: orNull(value.continues, (it) => readId(it, `${where}.continues`)),
    flags: { ...reply.flags, ...readFlags(value.flags, Object.keys(reply.flags)) },
    ...readDepth(value, where),
  });
  return reply;
}

// Private

/**
 * What stands behind the numbers; a reply that has none of it gets none.
 * @param {Record<string, unknown>} value @param {string} where
 * @returns {Pick<Reply, "trace" | "seen" | "smoothing">}
 */
function readDepth(value, where) {
  const depth = {
    trace: orNull(value.trace, (it) => readTrace(it, `${where}.trace`)),
    seen: orNull(value.seen, (it) => readList(it, `${where}.seen`, MAX_SEEN).map((token, i) => readToken(token, `${where}.seen[${i}]`))),
    smoothing: orNull(value.smoothing, (it) => readNumbers(it, `${where}.smoothing`, ["first_ms", "mean_ms", "longest_ms", "pieces"])),
  };
  return Object.fromEntries(Object.entries(depth).filter(([, found]) => found !== null));
}

/** @param {unknown} raw @param {string} where @returns {NonNullable<Reply["trace"]>} */
function readTrace(raw, where) {
  const value = readObject(raw, where);
  return {
    ...readNumbers(value, where, ["sent_ms"]),
    clock: orNull(value.clock, (it) => readNumbers(it, `${where}.clock`, ["zero_ms", "error_ms", "way_ms"])),
    first: orNull(value.first, (it) => readNumbers(it, `${where}.first`, ["at_ms", "released_t"])),
  };
}

/** @param {unknown} raw @param {string} where @returns {import("../measure/token_bytes.js").SeenToken} */
function readToken(raw, where) {
  const value = readObject(raw, where);
  const top = readList(value.top ?? [], `${where}.top`, MAX_ALTERNATIVES).map((other, i) => {
    const [id, data, logprob] = readList(other, `${where}.top[${i}]`, 3);
    return readVocable(id, data, logprob, `${where}.top[${i}]`);
  });
  const [id, data, logprob] = readVocable(value.id, value.data, value.logprob, where);
  return { id, data, logprob, top, ...readNumbers(value, where, ["at_ms", "t"]) };
}

/** A token's number, bytes and probability. @param {unknown} id @param {unknown} data @param {unknown} logprob @param {string} where
 * @returns {[number, string, number]} */
function readVocable(id, data, logprob, where) {
  const bytes = readText(data, `${where}.data`, MAX_DATA_CHARS);
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(bytes)) throw new Unreadable("wantsBase64", `${where}.data`);
  return [readFinite(id, `${where}.id`), bytes, readFinite(logprob, `${where}.logprob`, -1e6, 1)];
}

/**
 * @template {string} N
 * @param {unknown} raw @param {string} where @param {N[]} names
 * @returns {Record<N, number>}
 */
function readNumbers(raw, where, names) {
  const value = readObject(raw, where);
  return /** @type {Record<N, number>} */ (Object.fromEntries(names.map((name) => [name, readFinite(value[name], `${where}.${name}`)])));
}

/** @param {unknown} raw @param {string} where */
function readArrival(raw, where) {
  const value = readObject(raw, where);
  return {
    at_ms: readFinite(value.at_ms, `${where}.at_ms`, 0),
    words: readFinite(value.words, `${where}.words`, 0, MAX_TEXT_CHARS),
    tokens: readFinite(value.tokens, `${where}.tokens`, 0, MAX_TEXT_CHARS),
  };
}

/** @param {unknown} raw @param {string} where */
function readTimings(raw, where) {
  const value = readObject(raw, where);
  const names = ["queue_ms", "prefill_ms", "first_token_ms", "decode_ms", "paused_ms", "total_ms"];
  return Object.fromEntries(names.map((name) => [name, orNull(value[name], (it) => readFinite(it, `${where}.${name}`))]));
}

/** @param {unknown} raw @param {string} where */
function readError(raw, where) {
  const value = readObject(raw, where);
  return {
    code: readText(value.code, `${where}.code`, 80),
    message: readText(value.message, `${where}.message`, 2000),
    retryable: value.retryable === true,
  };
}

/** @param {unknown} raw @param {string[]} names @returns {Record<string, boolean>} */
function readFlags(raw, names) {
  const value = typeof raw === "object" && raw !== null ? /** @type {Record<string, unknown>} */ (raw) : {};
  return Object.fromEntries(names.map((name) => [name, Object.hasOwn(value, name) && value[name] === true]));
}
