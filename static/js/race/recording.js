/**
 * A race as a recording, and a recording as a race: format version 1, the same that `firstword record`
 * writes (app/replay/recording.py). What the page measured stands in its lanes. Checking a file from
 * somebody is recording_file.js; this trusts what it is given. Pure.
 *
 * @typedef {import("./race.js").Race} Race
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {import("../events.js").ServerEvent} ServerEvent
 * @typedef {{ version: string, model: { name: string, device?: string, dtype?: string },
 *   hardware: { cpu: string, cores: number, memory_gb: number, system: string } }} About
 */

import { LINKS, paceOf } from "./lane_settings.js";
import { nameOf } from "./lane_words.js";
import { sha256 } from "./sha256.js";

/** A page has no lane that heard every token, or the answer never came to its end. */
export class NotComplete extends Error {}

/**
 * The reply's own events, token by token, as some lane has heard them.
 * @param {Race} race
 * @returns {ServerEvent[] | null} null where no lane has: ask the server for the log
 */
export function tokenEvents({ lanes }) {
  const lane = lanes.find(({ settings, done }) => paceOf(settings) === "token" && settings.wire !== "plain" && done !== null);
  return lane ? lane.events.map(({ at_ms: _, ...event }) => event) : null;
}

/**
 * @param {Race} race all of it over
 * @param {ServerEvent[]} events of the reply at pace token
 * @param {About | null} about null: the server would not say
 * @returns {Record<string, unknown>}
 */
export function recordingOf({ experiment, lanes, madeAt }, events, about) {
  const text = events.map((event) => (event.type === "delta" ? event.text : "")).join("");
  const said = events.filter(({ type }) => ["queued", "started", "delta", "paused", "resumed", "done"].includes(type));
  const done = said.at(-1);
  if (done?.type !== "done") throw new NotComplete();
  const { prompt, maxTokens, temperature, seed, tokensPerSecond, separate, recording, wordsPerMinute } = experiment;
  // What plays a recording is not what made it.
  const maker = recording ? null : about;
  const { name, device = "", dtype = "" } = maker?.model ?? { name: lanes.find(({ model }) => model)?.model?.name ?? "" };
  return {
    format: "firstword-recording", version: 1, id: `race-${madeAt.replace(/\D/g, "").slice(0, 17)}`,
    title: (prompt.replace(/\s+/g, " ").trim() || "–").slice(0, 120).replace(HALF, ""), made_at: madeAt, made_by: `firstword ${about?.version ?? ""}`.trim(),
    prompt: {
      messages: [{ role: "user", content: prompt }],
      settings: { max_tokens: maxTokens, temperature, seed, tokens_per_second: tokensPerSecond, separate, recording: recording || null, words_per_minute: wordsPerMinute },
    },
    model: { name: name.slice(0, 200), device, dtype },
    hardware: maker?.hardware ?? { cpu: "", cores: 0, memory_gb: 0, system: "" },
    reply: { id: done.reply, text, sha256: sha256(text), events: said.map(withoutId) },
    lanes: lanes.map(laneOf),
  };
}

// Private

/** @param {Lane} lane */
function laneOf(lane) {
  const { settings, arrivals, events, firstPaint_ms, lastPaint_ms, ended_ms, hidden, late, stopped, error, reply } = lane;
  const link = LINKS[settings.link];
  return {
    label: nameOf(lane),
    settings: { delivery: settings.delivery, pace: paceOf(settings), wire: settings.wire, link_name: settings.link, ...(link ? { link } : {}), reply, hidden, late, ...(stopped ? { stopped } : {}), ...(error ? { error } : {}) },
    // Texts stand in the arrivals; twice would double the file.
    events: events.filter(({ type }) => type !== "delta" && type !== "error").map(({ at_ms, ...event }) => ({ at_ms: round(at_ms), ...event })),
    first_out_t_ms: lane.firstOut_ms,
    arrivals: arrivals.map(({ at_ms, seq, text, tokens, words }) => ({ at_ms: round(at_ms), seq, text, tokens, words })),
    first_paint_ms: firstPaint_ms === null ? null : round(firstPaint_ms),
    last_paint_ms: lastPaint_ms === null ? null : round(lastPaint_ms),
    ended_ms: ended_ms === null ? null : round(ended_ms),
  };
}

/** Our own name for the request is nobody's business. @param {ServerEvent} event */
function withoutId(event) {
  const { id: _, ...rest } = /** @type {ServerEvent & { id?: string }} */ (event);
  return rest;
}

/** What a cut leaves of an emoji at the end is no character, and no other program reads a file with it. */
const HALF = /[\uD800-\uDBFF]$/;

/** Microseconds are more than any clock here knows. @param {number} ms */
const round = (ms) => Math.round(ms * 1000) / 1000;
