/**
 * What has to be said about a reply besides its text: beside its mode, everything that makes its times
 * other than the plain ones (pace, smoothing, slow motion, probabilities); below it, how it ended and
 * what happened to it. Words only; it refuses to know elements.
 *
 * @typedef {import("../chat/reply.js").Reply} Reply
 */

import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";

/** Shorter waits are the reader's own blinking. */
const WORTH_SAYING_MS = 50;

/** @param {Reply} reply @returns {string[]} marks, for beside the mode */
export function marksOf({ mode, settings, smoothing }) {
  if (!settings) return [];
  const streamed = mode === "streamed";
  return [
    streamed && settings.pace === "token" && say("markToken"),
    streamed && settings.pace === "sentence" && say("markSentence"),
    streamed && settings.smoothed && (smoothing
      ? say("markSmoothedBy", { mean: spellTime(smoothing.mean_ms) })
      : say("markSmoothed")),
    settings.tokens_per_second !== null && say("markSlow", { rate: settings.tokens_per_second }),
    settings.inspect && say("markInspect"),
  ].filter((mark) => mark !== false);
}

/** @param {Reply} reply @returns {string[]} sentences, for below the text */
export function notesOf({ state, finish, text, flags, waits, smoothing, timings }) {
  return [
    waits && say("waitsForReader"),
    state === "stopped" && say(flags.away ? "away" : "stopped"),
    state === "done" && finish === "length" && say("cutOff"),
    state === "done" && text.trim() === "" && say("emptyReply"),
    smoothing && state === "done" && say("smoothingNote", {
      first: spellTime(smoothing.first_ms), mean: spellTime(smoothing.mean_ms), longest: spellTime(smoothing.longest_ms),
    }),
    timings && timings.paused_ms > WORTH_SAYING_MS && say("hadWaited", { time: spellTime(timings.paused_ms) }),
    flags.hidden && say("hiddenFlag"),
    flags.resumed && say(flags.along ? "alongFlag" : "resumedFlag"),
    flags.reconnected && say("reconnectedFlag"),
  ].filter((note) => typeof note === "string");
}
