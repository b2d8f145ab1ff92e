/**
 * A recording from somebody's file → a race, or one sentence that names the field that is wrong
 * (recording_rules.js). A recording without lanes (`firstword record`) gives two: as it was made, and
 * all at once. Pure.
 *
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {Record<string, any>} Box
 */

import { usualExperiment, within } from "./experiment.js";
import { addArrival, fail, newLane } from "./lane.js";
import { checkLane } from "./lane_settings.js";
import { checkedFile } from "./recording_rules.js";
import { countWords } from "../measure/words_read.js";

/** @param {string} text of the file @returns {import("./race.js").Race} Throws BadFile. */
export function readRecording(text) {
  const file = checkedFile(text);
  const { prompt, reply, lanes: given = [] } = file;
  /** @type {Lane[]} */
  const lanes = given.length ? given.map(readLane) : lanesOf(reply);
  for (const lane of lanes) lane.model ??= { name: file.model.name };
  return {
    experiment: { ...usualExperiment(prompt.messages.at(-1).content), ...settingsOf(prompt), lanes: lanes.map(({ settings }) => settings) },
    lanes, source: "replay", madeAt: file.made_at, serverClock: given.length === 0, file, recordingTitle: file.title,
  };
}

// Private

/** @param {Box} lane @returns {Lane} */
function readLane({ settings, arrivals = [], events = [], first_out_t_ms = null, first_paint_ms = null, last_paint_ms = null, ended_ms = null }) {
  const { delivery = settings.pace, wire = "socket", link_name: link = "direct", error } = settings;
  const made = newLane(/** @type {import("./lane_settings.js").LaneSettings} */ (checkLane({ delivery, wire, link })));
  arrivals.forEach((/** @type {any} */ arrival) => addArrival(made, arrival));
  made.done = events.find((/** @type {Box} */ event) => event.type === "done") ?? null;
  made.reply = settings.reply ?? null;
  made.hidden = settings.hidden === true;
  made.late = settings.late === true;
  made.stopped = settings.stopped === true;
  made.firstOut_ms = first_out_t_ms;
  made.firstPaint_ms = first_paint_ms;
  made.lastPaint_ms = last_paint_ms;
  const end_ms = ended_ms ?? made.arrivals.at(-1)?.at_ms ?? 0;
  if (error) fail(made, error, end_ms);
  made.ended_ms = end_ms;
  return made;
}

/** What the reply itself tells: as it was made, and all at once. @param {Box} reply @returns {Lane[]} */
function lanesOf({ text, events }) {
  const streamed = newLane({ delivery: "token", wire: "socket", link: "direct" });
  const all = newLane({ delivery: "whole", wire: "socket", link: "direct" });
  const done = events.at(-1);
  for (const event of events) {
    if (event.type === "delta") addArrival(streamed, { at_ms: event.t, seq: event.seq, text: event.text, tokens: event.tokens, words: countWords(event.text) });
  }
  const tokens = streamed.arrivals.reduce((sum, arrival) => sum + arrival.tokens, 0);
  if (text !== "") addArrival(all, { at_ms: done.t, seq: streamed.arrivals.at(-1)?.seq ?? 1, text, tokens, words: countWords(text) });
  for (const lane of [streamed, all]) Object.assign(lane, { done, ended_ms: done.t, reply: done.reply });
  return [streamed, all];
}

/** @param {Box} prompt @returns {Partial<import("./experiment.js").Experiment>} those of them that are within our limits */
function settingsOf({ settings: given = {} }) {
  const names = /** @type {const} */ ([["max_tokens", "maxTokens"], ["temperature", "temperature"], ["seed", "seed"], ["tokens_per_second", "tokensPerSecond"], ["words_per_minute", "wordsPerMinute"]]);
  const known = names.flatMap(([name, ours]) => (typeof given[name] === "number" && within(given[name], ours) !== null ? [[ours, given[name]]] : []));
  return { ...Object.fromEntries(known), separate: given.separate === true };
}
