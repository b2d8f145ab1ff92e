/**
 * Rounds that a teacher may want, as plans of the room's protocol. The lesson's order is: a vote, the
 * same with the order turned round, a catch round. Lanes are the race's own, with its presets' numbers; what
 * is simulated is simulated once, on the server, so that everybody sees the same. Pure.
 *
 * @typedef {"usual" | "turned" | "catch"} Kind
 * @typedef {import("../race/lane_settings.js").LaneSettings} LaneSettings
 * @typedef {"hand" | "nine_of_ten" | "clock"} Closes the stopping rule of the vote
 * @typedef {{ kind: Kind, lanes: [string, string], prompt: string, recording: string, question: "faster" | "rather",
 *   askPrediction: boolean, askFelt: boolean, mirror: boolean, maxTokens: number, closes: Closes }} Wishes
 */

import { LINKS, paceOf, readLane } from "../race/lane_settings.js";
import { POLL_EVERY_MS } from "../stream/polling_wire.js";

/** @type {readonly Kind[]} */
export const KINDS = ["usual", "turned", "catch"];
/** A lane of which every piece comes so much later. */
export const DELAYED = "delayed";
export const DELAY_MS = 1500;
/**
 * What a lane may be, in the race's notation. The other streaming wires are left out: on a class's screens they
 * look alike, which is what /compare shows with them.
 * @type {readonly string[]}
 */
export const LANES = ["token", "whole", "sentence", "word", DELAYED, "token.polling", "token.socket.mobile", "token.socket.tunnel", "token.socket.proxy"];
/** @type {readonly Closes[]} */
export const RULES = ["hand", "nine_of_ten", "clock"];
/** A minute, as the lesson plan has it; the teacher can add to it. */
export const CLOSE_S = 60;

/**
 * @param {Wishes} wishes
 * @param {(lane: string) => string} labelOf
 * @returns {Record<string, unknown>} a plan for `open_round`
 */
export function roundPlan({ kind, lanes, prompt, recording, question, askPrediction, askFelt, mirror, maxTokens, closes }, labelOf) {
  return {
    ...(recording ? { recording } : { prompt: prompt.trim(), max_tokens: maxTokens }),
    lanes: lanes.map((lane) => ({ ...lanePlan(lane), label: labelOf(lane) })),
    question, ask_prediction: askPrediction, ask_felt: askFelt, mirror,
    catch: kind === "catch", flip: kind === "turned",
    ...(closes === "hand" ? {} : { closes }), ...(closes === "clock" ? { close_s: CLOSE_S } : {}),
  };
}

/** What comes next in the lesson. @param {{ catch: boolean, flip: boolean }[]} past rounds that were kept @returns {Kind} */
export function nextKind(past) {
  const turned = past.some(({ flip }) => flip);
  if (past.length === 0) return "usual";
  if (!turned) return "turned";
  return past.some((round) => round.catch) ? "usual" : "catch";
}

// Private

/** @param {string} lane @returns {Record<string, unknown>} what is unusual about it */
function lanePlan(lane) {
  if (lane === DELAYED) return { pace: "token", delay_ms: DELAY_MS };
  const settings = /** @type {LaneSettings} */ (readLane(lane));
  const link = LINKS[settings.link];
  return { pace: paceOf(settings), ...(settings.wire === "polling" ? { every_ms: POLL_EVERY_MS } : {}), ...(link ? { link } : {}) };
}
