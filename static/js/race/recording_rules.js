/**
 * What a recording's file has to be, field by field: the same rules as app/replay/recording.py and
 * recorded_lanes.py, and tests/replay/golden_recordings.json holds both to them. Unknown fields are let
 * be. Pure.
 */

import { say } from "../words.js";
import { checkLane, MAX_LANES, MIN_LANES } from "./lane_settings.js";
import { sha256 } from "./sha256.js";

export const MAX_FILE_BYTES = 4_194_304;
const MAX_DEPTH = 100;
const MAX_EVENTS = 50_000;
const MAX_MS = 3_600_000;
const MAX_COUNT = 1_000_000;
/** A first paint may follow the end by a frame, on a machine however slow; more is no paint of that text. */
const PAINT_GRACE_MS = 5000;

/** Its message is for people. */
export class BadFile extends Error {}

/** @typedef {Record<string, any>} Box @typedef {(value: any, field: string) => void} Check throws BadFile */

/** @param {string} text of the file @returns {Box} Throws BadFile. */
export function checkedFile(text) {
  if (new Blob([text]).size > MAX_FILE_BYTES) throw new BadFile(say("tooLarge", { limit: MAX_FILE_BYTES / 1_048_576 }));
  let file;
  try {
    file = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new BadFile(say("notJson"));
  }
  if (isDeeper(file, MAX_DEPTH)) throw wrong("file", `at most ${MAX_DEPTH} levels deep`);
  shape({})(file, "file");
  if (file.format !== "firstword-recording") throw wrong("format", "“firstword-recording”");
  if (file.version !== 1) throw new BadFile(say("unknownVersion", { version: String(file.version).slice(0, 20) }));
  for (const [name, check] of Object.entries(RECORDING)) check(file[name], name);
  checkReply(file.reply);
  (file.lanes ?? []).forEach((/** @type {Box} */ lane, /** @type {number} */ i) => checkRead(lane, file.reply, `lanes[${i}]`));
  return file;
}

// Private: kinds of values

/** @param {string} field @param {string} what */
const wrong = (field, what) => new BadFile(say("fieldWrong", { field, what }));

/** @param {(value: any) => boolean} holds @param {string} what @returns {Check} */
const is = (holds, what) => (value, field) => {
  if (!holds(value)) throw wrong(field, what);
};

/** @param {Record<string, Check>} fields @returns {Check} */
const shape = (fields) => (value, field) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(field, "an object");
  for (const [name, check] of Object.entries(fields)) check(value[name], `${field}.${name}`);
};

/** @param {Check} check @param {number} least @param {number} most @returns {Check} */
const list = (check, least, most) => (value, field) => {
  if (!Array.isArray(value) || value.length < least || value.length > most) throw wrong(field, `a list of ${least} to ${most}`);
  value.forEach((item, i) => check(item, `${field}[${i}]`));
};

/** @param {Check} check @returns {Check} */
const optional = (check) => (value, field) => void (value === undefined || check(value, field));
/** @param {Check} check @returns {Check} */
const nullable = (check) => (value, field) => void (value === null || check(value, field));
/** @param {Check} check @returns {Check} */
const maybe = (check) => optional(nullable(check));
/** @param {number} [most] @returns {Check} */
const text = (most = Infinity) => is((value) => typeof value === "string" && !/\p{Surrogate}/u.test(value) && (value.length <= most || [...value].length <= most),
  most === Infinity ? "a text" : `a text of at most ${most} characters`);
/** @param {RegExp} pattern @param {string} what @returns {Check} */
const like = (pattern, what) => is((value) => typeof value === "string" && pattern.test(value), what);
/** @param {...string} words @returns {Check} */
const oneOf = (...words) => is((value) => words.includes(value), `one of ${words.join(", ")}`);
/** @param {number} least @param {number} most @returns {Check} */
const number = (least, most) => is((value) => Number.isFinite(value) && value >= least && value <= most, `a number from ${least} to ${most}`);
/** @param {number} least @param {number} most @returns {Check} */
const whole = (least, most) => is((value) => Number.isInteger(value) && value >= least && value <= most, "a whole number");

// Private: the file

const int = whole(-Infinity, Infinity);
const real = number(-Infinity, Infinity);
const ms = number(0, MAX_MS);
const line = text(200);
const flag = is((value) => typeof value === "boolean", "true or false");
const base64 = like(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, "base64");

const pausing = shape({ reply: text(), reason: text(), t: real });
/** @type {Record<string, Check>} */
const EVENTS = {
  queued: shape({ reply: text(), position: int, t: real, id: maybe(text()) }),
  started: shape({ reply: text(), model: text(), prompt_tokens: int, cached_tokens: int, t: real, id: maybe(text()), recovered: maybe(flag) }),
  delta: shape({ reply: text(), seq: int, text: text(), tokens: int, t: real, released: maybe(real),
    info: optional(list(shape({ token_id: int, data: base64, logprob: real, top: optional(list(alternative, 0, Infinity)) }), 0, Infinity)) }),
  paused: pausing,
  resumed: pausing,
  done: shape({
    reply: text(), seq: int, finish_reason: oneOf("stop", "length", "cancelled"), t: real, stop: maybe(text()), id: maybe(text()),
    usage: shape({ prompt_tokens: int, completion_tokens: int, total_tokens: int, cached_tokens: int }),
    timings: shape({ queue_ms: nullable(real), prefill_ms: nullable(real), first_token_ms: nullable(real), decode_ms: nullable(real), paused_ms: real, total_ms: real }),
  }),
};

/** @type {Check} */
function event(value, field) {
  shape({ type: oneOf(...Object.keys(EVENTS)) })(value, field);
  EVENTS[value.type]?.(value, field);
}

/** @type {Check} */
function alternative(value, field) {
  list(() => {}, 3, 3)(value, field);
  int(value[0], field);
  base64(value[1], field);
  real(value[2], field);
}

/** @type {Check} */
function numbers(value, field) {
  shape(Object.fromEntries(Object.keys(value ?? {}).map((name) => [name, real])))(value, field);
}

/** @type {Check} */
function laneSettings(value, field) {
  shape({ reply: maybe(text(128)), error: maybe(shape({ code: text(64), message: text(1000) })), link: optional(numbers), hidden: optional(flag), late: optional(flag), stopped: optional(flag) })(value, field);
  const { delivery = value.pace, wire = "socket", link_name = "direct" } = value;
  if (!checkLane({ delivery, wire, link: link_name })) throw wrong(field, "a delivery, a wire and a network that this version knows");
}

const LANE = shape({
  label: line, settings: laneSettings,
  events: optional(list(shape({}), 0, MAX_EVENTS)),
  arrivals: optional(list(shape({ at_ms: ms, seq: whole(0, MAX_COUNT), text: text(), tokens: whole(0, MAX_COUNT), words: whole(0, MAX_COUNT) }), 0, MAX_EVENTS)),
  first_out_t_ms: maybe(ms), first_paint_ms: maybe(ms), last_paint_ms: maybe(ms), ended_ms: maybe(ms),
});

/** @type {Record<string, Check>} */
const RECORDING = {
  id: like(/^[A-Za-z0-9_-]{1,64}$/, "1 to 64 letters, digits, - or _"),
  title: line,
  made_at: like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)$/, "a time in UTC"),
  made_by: line,
  prompt: shape({ messages: list(shape({ role: oneOf("system", "user", "assistant"), content: text() }), 1, 1000), settings: optional(shape({})) }),
  model: shape({ name: line, device: optional(line), dtype: optional(line) }),
  hardware: shape({ cpu: line, cores: whole(0, MAX_COUNT), memory_gb: number(0, MAX_COUNT), system: line }),
  reply: shape({ id: text(128), text: text(), sha256: like(/^[0-9a-f]{64}$/, "64 hexadecimal digits"), events: list(event, 1, MAX_EVENTS) }),
  lanes: optional((value, field) => list(LANE, value?.length ? MIN_LANES : 0, MAX_LANES)(value, field)),
};

// Private: what types cannot say

/** The end, the order, the text. @param {Box} reply */
function checkReply({ text: whole_text, sha256: hash, events }) {
  let before_ms = 0;
  let seq = 0;
  events.forEach((/** @type {Box} */ said, /** @type {number} */ i) => {
    const where = `reply.events[${i}]`;
    if ((said.type === "done") !== (i === events.length - 1)) throw wrong(where, "the one done and the last event");
    // Who came back to a reply was told its beginning again: only text and end have to be in order.
    number(said.type === "delta" || said.type === "done" ? before_ms : 0, MAX_MS)(said.t, `${where}.t`);
    if (said.type !== "delta") return;
    if (said.seq <= seq || said.tokens < 0) throw wrong(`${where}.seq`, `above ${seq}, and tokens at least 0`);
    [before_ms, seq] = [said.t, said.seq];
  });
  const text_of_events = events.map((/** @type {Box} */ said) => (said.type === "delta" ? said.text : "")).join("");
  if (text_of_events !== whole_text) throw wrong("reply.text", "the text that reply.events bring");
  if (sha256(whole_text) !== hash) throw wrong("reply.sha256", say("hashOfText"));
}

/** What one reader saw fits together, and with the reply if it read that one. @param {Box} lane @param {Box} reply @param {string} where */
function checkRead({ settings, events = [], arrivals = [], first_paint_ms: first_ms = null, last_paint_ms: last_ms = null, ended_ms = null }, reply, where) {
  let before_ms = 0;
  arrivals.forEach((/** @type {Box} */ { at_ms }, /** @type {number} */ i) => {
    number(before_ms, ended_ms ?? MAX_MS)(at_ms, `${where}.arrivals[${i}].at_ms`);
    before_ms = at_ms;
  });
  if (first_ms !== null && arrivals.length === 0) throw wrong(`${where}.first_paint_ms`, "absent where nothing arrived");
  if (first_ms !== null && ended_ms !== null && !settings.hidden && first_ms > ended_ms + PAINT_GRACE_MS) {
    throw wrong(`${where}.first_paint_ms`, `at most ${PAINT_GRACE_MS} after ended_ms`);
  }
  if (last_ms !== null && !(first_ms !== null && first_ms <= last_ms)) throw wrong(`${where}.last_paint_ms`, "not before first_paint_ms");
  if ((settings.reply ?? reply.id) !== reply.id) return;
  const read = arrivals.map((/** @type {Box} */ arrival) => arrival.text).join("");
  const isComplete = events.some((/** @type {Box} */ said) => said.type === "done" && said.finish_reason !== "cancelled");
  if (isComplete ? read !== reply.text : !reply.text.startsWith(read)) throw wrong(`${where}.arrivals`, "the text of reply.text, or its beginning");
}

/** @param {any} value @param {number} most levels @returns {boolean} */
function isDeeper(value, most) {
  if (typeof value !== "object" || value === null) return false;
  return most === 0 || Object.values(value).some((item) => isDeeper(item, most - 1));
}
