/**
 * A recording from somebody's file → a race, or one sentence that names the field that is wrong.
 * Everything is checked and limited; unknown fields are let be; texts stay texts. A recording without
 * lanes (`firstword record`) gives two: as it was made, and all at once. Pure.
 *
 * @typedef {import("./lane.js").Lane} Lane
 */

import { say } from "../words.js";
import { usualExperiment, within } from "./experiment.js";
import { addArrival, fail, newLane } from "./lane.js";
import { checkLane, MAX_LANES } from "./lane_settings.js";
import { sha256 } from "./sha256.js";
import { countWords } from "../measure/words_read.js";

export const MAX_FILE_BYTES = 4_194_304;
const MAX_ARRIVALS = 20_000;
const MAX_TEXT_CHARS = 1_000_000;
const MAX_MS = 3_600_000;

/** Its message is for people. */
export class BadFile extends Error {}

/** @param {string} text of the file @returns {import("./race.js").Race} Throws BadFile. */
export function readRecording(text) {
  if (text.length > MAX_FILE_BYTES) throw new BadFile(say("tooLarge", { limit: MAX_FILE_BYTES / 1_048_576 }));
  /** @type {Box} */
  let file;
  try {
    file = object(JSON.parse(text), "file");
  } catch (error) {
    throw error instanceof BadFile ? error : new BadFile(say("notJson"));
  }
  if (file.format !== "firstword-recording") throw wrong("format", "“firstword-recording”");
  if (file.version !== 1) throw new BadFile(say("unknownVersion", { version: String(file.version).slice(0, 20) }));
  const prompt = object(file.prompt, "prompt");
  const reply = object(file.reply, "reply");
  if (sha256(string(reply.text, "reply.text", MAX_TEXT_CHARS)) !== reply.sha256) throw wrong("reply.sha256", say("hashOfText"));
  const given = list(file.lanes ?? [], "lanes", MAX_LANES);
  const lanes = given.length ? given.map((lane, i) => readLane(object(lane, `lanes[${i}]`), `lanes[${i}]`)) : lanesOf(reply);
  const model = string(object(file.model, "model").name, "model.name", 200);
  for (const lane of lanes) lane.model ??= { name: model };
  return {
    experiment: { ...usualExperiment(question(prompt)), ...settingsOf(prompt), lanes: lanes.map(({ settings }) => settings) },
    lanes, source: "replay", madeAt: string(file.made_at, "made_at", 40), serverClock: given.length === 0,
    file, recordingTitle: string(file.title, "title", 200),
  };
}

// Private

/** @typedef {Record<string, any>} Box */

/** @param {Box} lane @param {string} where @returns {Lane} */
function readLane(lane, where) {
  const settings = object(lane.settings, `${where}.settings`);
  const delivery = settings.delivery ?? settings.pace;
  const checked = checkLane({ delivery, wire: settings.wire ?? "socket", link: settings.link_name ?? "direct" });
  if (!checked) throw wrong(`${where}.settings`, "a delivery, a wire and a network that this page knows");
  const made = newLane(checked);
  list(lane.arrivals ?? [], `${where}.arrivals`, MAX_ARRIVALS).forEach((given, i) => readArrival(made, given, `${where}.arrivals[${i}]`));
  for (const [i, given] of list(lane.events ?? [], `${where}.events`, MAX_ARRIVALS).entries()) {
    const event = object(given, `${where}.events[${i}]`);
    if (event.type === "done") made.done = readDone(event, `${where}.events[${i}]`);
  }
  made.reply = settings.reply == null ? null : string(settings.reply, `${where}.settings.reply`, 128);
  made.hidden = settings.hidden === true;
  made.late = settings.late === true;
  made.stopped = settings.stopped === true;
  made.firstOut_ms = optional(lane.first_out_t_ms, `${where}.first_out_t_ms`);
  made.firstPaint_ms = optional(lane.first_paint_ms, `${where}.first_paint_ms`);
  made.lastPaint_ms = optional(lane.last_paint_ms, `${where}.last_paint_ms`);
  const ended_ms = optional(lane.ended_ms, `${where}.ended_ms`) ?? made.arrivals.at(-1)?.at_ms ?? 0;
  if (settings.error != null) {
    const { code, message } = object(settings.error, `${where}.settings.error`);
    fail(made, { code: string(code, `${where}.settings.error.code`, 64), message: string(message, `${where}.settings.error.message`, 1000) }, ended_ms);
  }
  made.ended_ms = ended_ms;
  return made;
}

/** @param {Lane} lane @param {unknown} given @param {string} where */
function readArrival(lane, given, where) {
  const { at_ms, seq, text, tokens, words } = object(given, where);
  const before = lane.arrivals.at(-1);
  addArrival(lane, {
    at_ms: number(at_ms, `${where}.at_ms`, before?.at_ms ?? 0, MAX_MS), seq: number(seq, `${where}.seq`, 0, 1e6),
    text: string(text, `${where}.text`, MAX_TEXT_CHARS), tokens: whole(tokens, `${where}.tokens`), words: whole(words, `${where}.words`),
  });
}

/** What the reply itself tells: as it was made, and all at once. @param {Box} reply @returns {Lane[]} */
function lanesOf(reply) {
  const streamed = newLane({ delivery: "token", wire: "socket", link: "direct" });
  const all = newLane({ delivery: "whole", wire: "socket", link: "direct" });
  list(reply.events, "reply.events", MAX_ARRIVALS).forEach((given, i) => {
    const where = `reply.events[${i}]`;
    const event = object(given, where);
    if (event.type === "delta") {
      const text = string(event.text, `${where}.text`, MAX_TEXT_CHARS);
      readArrival(streamed, { at_ms: event.t, seq: event.seq, text, tokens: event.tokens, words: countWords(text) }, where);
    } else if (event.type === "done") {
      streamed.done = all.done = readDone(event, where);
      streamed.ended_ms = all.ended_ms = number(event.t, `${where}.t`, streamed.arrivals.at(-1)?.at_ms ?? 0, MAX_MS);
    }
  });
  if (all.ended_ms === null || all.done === null) throw wrong("reply.events", "complete, with a done at its end");
  const text = streamed.arrivals.map((arrival) => arrival.text).join("");
  const tokens = streamed.arrivals.reduce((sum, arrival) => sum + arrival.tokens, 0);
  if (text !== "") addArrival(all, { at_ms: all.ended_ms, seq: streamed.arrivals.at(-1)?.seq ?? 1, text, tokens, words: countWords(text) });
  for (const lane of [streamed, all]) lane.reply = all.done.reply;
  return [streamed, all];
}

/** @param {Box} event @param {string} where @returns {import("../events.js").Done} */
function readDone(event, where) {
  const usage = object(event.usage, `${where}.usage`);
  const timings = object(event.timings, `${where}.timings`);
  const times = Object.fromEntries(["queue_ms", "prefill_ms", "first_token_ms", "decode_ms", "paused_ms", "total_ms"].map((name) => [name, optional(timings[name], `${where}.timings.${name}`)]));
  return /** @type {import("../events.js").Done} */ (/** @type {unknown} */ ({
    type: "done", reply: string(event.reply, `${where}.reply`, 128), seq: number(event.seq, `${where}.seq`, 0, 1e6),
    finish_reason: string(event.finish_reason, `${where}.finish_reason`, 32), t: number(event.t, `${where}.t`, 0, MAX_MS),
    usage: { completion_tokens: whole(usage.completion_tokens, `${where}.usage.completion_tokens`) }, timings: times,
  }));
}

/** @param {Box} prompt @returns {string} what the user asked last */
function question(prompt) {
  const messages = list(prompt.messages, "prompt.messages", 1000);
  return string(object(messages.at(-1), "prompt.messages").content, "prompt.messages.content", MAX_TEXT_CHARS);
}

/** @param {Box} prompt @returns {Partial<import("./experiment.js").Experiment>} those of them that are within our limits */
function settingsOf(prompt) {
  const given = object(prompt.settings ?? {}, "prompt.settings");
  const names = /** @type {const} */ ([["max_tokens", "maxTokens"], ["temperature", "temperature"], ["seed", "seed"], ["tokens_per_second", "tokensPerSecond"], ["words_per_minute", "wordsPerMinute"]]);
  const known = names.flatMap(([name, ours]) => (typeof given[name] === "number" && within(given[name], ours) !== null ? [[ours, given[name]]] : []));
  return { ...Object.fromEntries(known), separate: given.separate === true };
}

/** @param {string} field @param {string} what */
const wrong = (field, what) => new BadFile(say("fieldWrong", { field, what }));

/** @param {unknown} value @param {string} field @returns {Box} */
function object(value, field) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(field, "an object");
  return value;
}

/** @param {unknown} value @param {string} field @param {number} most @returns {unknown[]} */
function list(value, field, most) {
  if (!Array.isArray(value) || value.length > most) throw wrong(field, `a list of at most ${most}`);
  return value;
}

/** @param {unknown} value @param {string} field @param {number} most @returns {string} */
function string(value, field, most) {
  if (typeof value !== "string" || value.length > most) throw wrong(field, `a text of at most ${most} characters`);
  return value;
}

/** @param {unknown} value @param {string} field @param {number} least @param {number} most @returns {number} */
function number(value, field, least, most) {
  if (typeof value !== "number" || !(value >= least && value <= most)) throw wrong(field, `a number from ${Math.round(least)} to ${most}`);
  return value;
}

/** @param {unknown} value @param {string} field @returns {number} */
function whole(value, field) {
  if (!Number.isInteger(value)) throw wrong(field, "a whole number");
  return number(value, field, 0, 100_000);
}

/** @param {unknown} value @param {string} field @returns {number | null} */
const optional = (value, field) => (value == null ? null : number(value, field, 0, MAX_MS));
