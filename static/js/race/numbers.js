/**
 * All numbers of a race as a table: one row a number, one value a lane, computed from the real stamps.
 * The page, the CSV file and the tests read the same table. Pure.
 *
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {"ms" | "ms/token" | "1/s" | "count" | "share" | "ratio"} Unit
 * @typedef {{ name: string, unit: Unit, values: (number | null)[] }} Row `name` is also the name of its formula's words
 */

import { costOfStreaming, metricsOf, USUAL_PARAMETERS, wordsReadable } from "../measure/metrics.js";
import { WORDS_PER_MINUTE } from "../measure/words_read.js";
import { endOf, firstWordOf, lastWordOf } from "./lane.js";

/**
 * @param {Lane[]} lanes
 * @param {number} wordsPerMinute of the reader
 * @returns {Row[]}
 */
export function numbersOfRace(lanes, wordsPerMinute) {
  const reader = { ...USUAL_PARAMETERS, tokens_per_second: (USUAL_PARAMETERS.tokens_per_second * wordsPerMinute) / WORDS_PER_MINUTE };
  const metrics = lanes.map((lane) => metricsOf(readableTimes(lane), reader));
  const stages = lanes.map(stagesOf);
  const whole_ms = lanes.filter(({ settings }) => settings.delivery === "whole").map(lastWordOf)[0] ?? null;
  const end_ms = Math.max(...lanes.map((lane) => endOf(lane) ?? 0));
  /** @param {string} name @param {Unit} unit @param {(number | null)[]} values @returns {Row} */
  const row = (name, unit, values) => ({ name, unit, values });
  return [
    row("firstWord", "ms", lanes.map(firstWordOf)),
    ...STAGES.map((stage) => row(stage, "ms", stages.map((parts) => parts[stage]))),
    row("ttft", "ms", metrics.map(({ ttft_ms }) => ttft_ms)),
    row("chunkGap50", "ms", metrics.map(({ gaps_per_chunk }) => gaps_per_chunk.p50_ms)),
    row("chunkGap95", "ms", metrics.map(({ gaps_per_chunk }) => gaps_per_chunk.p95_ms)),
    row("chunkGapMax", "ms", metrics.map(({ gaps_per_chunk }) => gaps_per_chunk.max_ms)),
    row("tokenGap50", "ms", metrics.map(({ gaps_per_token }) => gaps_per_token.p50_ms)),
    row("tokenGap95", "ms", metrics.map(({ gaps_per_token }) => gaps_per_token.p95_ms)),
    row("tokenGapMax", "ms", metrics.map(({ gaps_per_token }) => gaps_per_token.max_ms)),
    row("tpot", "ms/token", metrics.map(({ tpot_ms }) => tpot_ms)),
    row("lastWord", "ms", lanes.map(lastWordOf)),
    row("streamingCost", "ratio", lanes.map((lane) => (lane.settings.delivery === "whole" ? null : costOfStreaming(lastWordOf(lane), whole_ms)))),
    row("tokens", "count", lanes.map(({ done }) => done?.usage?.completion_tokens ?? null)),
    row("arrivals", "count", lanes.map(({ arrivals }) => arrivals.length)),
    row("tokensPerSecond", "1/s", metrics.map(({ tokens_per_second }) => tokens_per_second)),
    row("wordsReadable", "count", lanes.map(({ arrivals }) => wordsReadable(arrivals, end_ms, wordsPerMinute))),
    row("qoe", "share", metrics.map(({ qoe }) => qoe)),
    row("fluidity", "share", metrics.map(({ fluidity }) => fluidity)),
    row("idle", "ms", metrics.map(({ idle_ms }) => idle_ms)),
    ...(lanes.some(({ smoother }) => smoother) ? [row("smoothingAdded", "ms", lanes.map(addedBySmoothing))] : []),
  ];
}

// Private

/** @type {("queue" | "prefill" | "holdBack" | "network" | "paint")[]} */
const STAGES = ["queue", "prefill", "holdBack", "network", "paint"];

/**
 * Where the wait for the first word went. The server's clock and ours are never subtracted from each
 * other's instants: each gives spans of its own, and the network is what is left.
 * @param {Lane} lane
 * @returns {Record<"queue" | "prefill" | "holdBack" | "network" | "paint", number | null>}
 */
function stagesOf(lane) {
  const timings = lane.done?.timings ?? null;
  const first = lane.arrivals[0] ?? null;
  // Plain text carries no stamps of the server.
  const out_ms = timings ? lane.firstOut_ms : null;
  return {
    queue: timings?.queue_ms ?? null,
    prefill: timings?.prefill_ms ?? null,
    holdBack: between(timings?.first_token_ms ?? null, out_ms),
    network: between(out_ms, first?.at_ms ?? null),
    paint: between(first?.at_ms ?? null, lane.firstPaint_ms),
  };
}

/** @param {number | null} earlier_ms @param {number | null} later_ms */
const between = (earlier_ms, later_ms) => (earlier_ms === null || later_ms === null ? null : later_ms - earlier_ms);

/** What a reader of the lane gets, and when. @param {Lane} lane */
const readableTimes = ({ arrivals }) => arrivals.map(({ shown_ms, tokens, words }) => ({ at_ms: shown_ms, tokens, words }));

/** The mean. @param {Lane} lane */
function addedBySmoothing({ smoother, arrivals }) {
  if (!smoother || arrivals.length === 0) return null;
  return arrivals.reduce((sum, { shown_ms, at_ms }) => sum + shown_ms - at_ms, 0) / arrivals.length;
}
