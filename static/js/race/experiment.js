/**
 * The experiment: what is asked, with which settings, in which lanes. It travels in the link's
 * fragment, so that a whole class repeats the same one; a link that is broken or comes from a newer
 * version gives the usual values, field by field. Pure.
 *
 * @typedef {import("./lane_settings.js").LaneSettings} LaneSettings
 * @typedef {object} Experiment
 * @property {string} prompt
 * @property {number} maxTokens
 * @property {number} temperature
 * @property {number} seed
 * @property {number | null} tokensPerSecond slow motion at the source; null: as fast as it goes
 * @property {boolean} separate a generation for each lane, with the same seed, instead of one for all
 * @property {string} recording id of a shipped recording that plays instead of the model, or ""
 * @property {number} wordsPerMinute of the reader
 * @property {readonly LaneSettings[]} lanes
 */

import { WORDS_PER_MINUTE } from "../measure/words_read.js";
import { LINKS, MAX_LANES, MIN_LANES, USUAL_LANES, paceOf, readLane, writeLane } from "./lane_settings.js";

/** Each setting's limits and its usual value; the server's own are the same or wider. */
export const LIMITS = {
  maxTokens: { least: 1, most: 1024, usual: 200, whole: true },
  temperature: { least: 0, most: 2, usual: 0.2, whole: false },
  seed: { least: 0, most: 2_147_483_647, usual: 7, whole: true },
  tokensPerSecond: { least: 0.5, most: 100, usual: null, whole: false },
  wordsPerMinute: { least: 50, most: 1000, usual: WORDS_PER_MINUTE, whole: true },
};
/** Longer prompts do not fit into a link that every chat program carries. */
export const MAX_PROMPT_CHARS = 4000;

/** @param {string} prompt @returns {Experiment} */
export function usualExperiment(prompt) {
  return {
    prompt, maxTokens: LIMITS.maxTokens.usual, temperature: LIMITS.temperature.usual, seed: LIMITS.seed.usual,
    tokensPerSecond: LIMITS.tokensPerSecond.usual, separate: false, recording: "",
    wordsPerMinute: LIMITS.wordsPerMinute.usual, lanes: USUAL_LANES,
  };
}

/**
 * The body of a lane's start, the same for all lanes but for how it is read. Lanes must not slow each
 * other down, so the reply waits for nobody (`buffer`).
 * @param {Experiment} experiment
 * @param {LaneSettings} lane
 * @param {string} id
 * @returns {Record<string, unknown>}
 */
export function startBody(experiment, lane, id) {
  const { prompt, maxTokens, temperature, seed, tokensPerSecond, separate, recording, lanes } = experiment;
  const link = LINKS[lane.link];
  const asked = recording ? { recording } : {
    messages: [{ role: "user", content: prompt }], max_tokens: maxTokens, temperature, seed,
    ...(tokensPerSecond === null ? {} : { tokens_per_second: tokensPerSecond }),
  };
  return {
    id, ...asked, pace: paceOf(lane), slow_policy: "buffer",
    ...(link ? { link } : {}),
    ...(separate || lanes.length < 2 ? {} : { await_readers: lanes.length }),
  };
}

/** @param {Experiment} experiment @returns {string} for behind the # */
export function writeFragment(experiment) {
  const { prompt, maxTokens, temperature, seed, tokensPerSecond, separate, recording, wordsPerMinute, lanes } = experiment;
  const fields = new URLSearchParams({ v: "1", prompt, max: String(maxTokens), temp: String(temperature), seed: String(seed) });
  if (tokensPerSecond !== null) fields.set("tps", String(tokensPerSecond));
  if (separate) fields.set("separate", "1");
  if (recording) fields.set("recording", recording);
  if (wordsPerMinute !== LIMITS.wordsPerMinute.usual) fields.set("wpm", String(wordsPerMinute));
  fields.set("lanes", lanes.map(writeLane).join("~"));
  return fields.toString();
}

/**
 * @param {string} fragment with or without its #
 * @param {Experiment} usual
 * @returns {Experiment | null} null where there is no experiment in it
 */
export function readFragment(fragment, usual) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  if (fields.get("v") !== "1") return null;
  /** @param {string} name @param {keyof typeof LIMITS} limit @param {number | null} otherwise */
  const number = (name, limit, otherwise) => {
    const text = fields.get(name);
    return text === null || text === "" ? otherwise : (within(Number(text), limit) ?? otherwise);
  };
  return {
    // A cut must leave no half of an emoji at the end: the server would refuse it.
    prompt: (fields.get("prompt") ?? usual.prompt).slice(0, MAX_PROMPT_CHARS).replace(/[\uD800-\uDBFF]$/, ""),
    maxTokens: number("max", "maxTokens", usual.maxTokens) ?? usual.maxTokens,
    temperature: number("temp", "temperature", usual.temperature) ?? usual.temperature,
    seed: number("seed", "seed", usual.seed) ?? usual.seed,
    tokensPerSecond: number("tps", "tokensPerSecond", null),
    separate: fields.get("separate") === "1",
    recording: /^[\w-]{1,64}$/.test(fields.get("recording") ?? "") ? String(fields.get("recording")) : "",
    wordsPerMinute: number("wpm", "wordsPerMinute", usual.wordsPerMinute) ?? usual.wordsPerMinute,
    lanes: readLanes(fields.get("lanes") ?? "") ?? usual.lanes,
  };
}

/** @param {number} value @param {keyof typeof LIMITS} name @returns {number | null} null where it is outside */
export function within(value, name) {
  const { least, most, whole } = LIMITS[name];
  const fits = Number.isFinite(value) && value >= least && value <= most && (!whole || Number.isInteger(value));
  return fits ? value : null;
}

// Private

/** @param {string} text @returns {LaneSettings[] | null} */
function readLanes(text) {
  const lanes = text.split("~").map(readLane);
  const fits = lanes.length >= MIN_LANES && lanes.length <= MAX_LANES && lanes.every((lane) => lane !== null);
  return fits ? /** @type {LaneSettings[]} */ (lanes) : null;
}
