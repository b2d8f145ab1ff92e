/**
 * The result of a closed vote: the sentence to read aloud, the counts as bars, the interval as a picture,
 * and what has to be said with it. The numbers are the server's; nothing is computed here but lengths.
 *
 * @typedef {import("../rooms/room_frames.js").Round} Round
 * @typedef {import("../rooms/room_frames.js").Results} Results
 */

import { caveatsOf, labelOf, leaderOf, sentenceOf } from "../rooms/result_words.js";
import { say } from "../words.js";
import { element, svg } from "./parts.js";

/**
 * @param {Round} round with its results
 * @param {{ withCaveats: boolean }} how
 * @returns {HTMLElement[]}
 */
export function resultsOf(round, { withCaveats }) {
  /** @type {[string, Results | null | undefined][]} */
  const votes = [["voteFirst", round.results], ["voteAgain", round.revote_results], ["voteHands", round.hands_results], ["voteBothWays", round.both_ways_results]];
  const shown = votes.filter(([, results]) => results && (results.ballots > 0 || results.decided > 0));
  if (shown.length === 0) return [element("p", "room-lead", say("nobodyVoted"))];
  // The newest answers the question of the moment; the first one stays beside it.
  return shown.reverse().map(([name, results], i) => {
    const vote = one(round, /** @type {Results} */ (results), withCaveats && i === 0);
    vote.dataset.vote = name;
    if (shown.length > 1) vote.prepend(element("h3", "result-title", say(name)));
    return vote;
  });
}

/** @param {Round} round @returns {HTMLElement | null} what the class had predicted */
export function predictionOf(round) {
  const { predicted } = round;
  if (!predicted || (predicted.a ?? 0) + (predicted.b ?? 0) + (predicted.same ?? 0) === 0) return null;
  return element("p", "result-predicted", say("predictedWas", {
    a: `${labelOf(round, "a")}\u00a0${predicted.a ?? 0}`, b: `${labelOf(round, "b")}\u00a0${predicted.b ?? 0}`, same: predicted.same ?? 0,
  }));
}

// Private

/** @param {Round} round @param {Results} results @param {boolean} withCaveats */
function one(round, results, withCaveats) {
  const made = element("section", "result", element("p", "result-sentence", sentenceOf(round, results)), bars(round, results), interval(round, results));
  const felt = results.felt_s;
  if (felt?.a !== undefined && felt.b !== undefined) {
    made.append(element("p", "result-note", say("feltWas", { a: labelOf(round, "a"), a_s: felt.a, b: labelOf(round, "b"), b_s: felt.b })));
  }
  if (withCaveats) made.append(element("ul", "result-caveats", ...caveatsOf(round, results).map((text) => element("li", "", text))));
  return made;
}

/** @param {Round} round @param {Results} results */
function bars(round, { lanes, positions }) {
  /** @type {[string, number][]} */
  const rows = round.catch
    ? [[say("position1"), positions["1"] ?? 0], [say("position2"), positions["2"] ?? 0], [say("cannotTell"), positions.same ?? 0]]
    : [[labelOf(round, "a"), lanes.a ?? 0], [labelOf(round, "b"), lanes.b ?? 0], [say("cannotTell"), lanes.same ?? 0]];
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return element("ul", "result-bars", ...rows.map(([name, count], i) => {
    const drawing = svg("svg", { class: `bar bar-${i}`, viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { x: 0, y: 0, width: (100 * count) / most, height: 10 }));
    return element("li", "", element("span", "bar-name", name), drawing, element("b", "bar-count", String(count)));
  }));
}

/** Wilson's interval of the leader's share, with the coin's 50 % in the middle. @param {Round} round @param {Results} results */
function interval(round, results) {
  const { decided, leader_votes, low, high } = results;
  if (decided === 0) return "";
  const name = leaderOf(round, results);
  const share = leader_votes / decided;
  const x = (/** @type {number} */ part) => 10 + 580 * part;
  const percent = (/** @type {number} */ part) => Math.round(100 * part);
  const drawing = svg("svg", { class: "interval", viewBox: "0 0 600 86", role: "img", "aria-label": say("intervalLabel", { name, low: percent(low), high: percent(high) }) },
    svg("line", { class: "interval-axis", x1: x(0), x2: x(1), y1: 26, y2: 26 }),
    ...[0, 0.25, 0.5, 0.75, 1].map((part) => svg("line", { class: part === 0.5 ? "interval-coin" : "interval-tick", x1: x(part), x2: x(part), y1: part === 0.5 ? 2 : 20, y2: part === 0.5 ? 46 : 32 })),
    svg("rect", { class: "interval-band", x: x(low), y: 14, width: Math.max(2, x(high) - x(low)), height: 24, rx: 4 }),
    svg("line", { class: "interval-point", x1: x(share), x2: x(share), y1: 8, y2: 44 }),
    svg("text", { x: x(0), y: 74, "text-anchor": "start" }, "0 %"), svg("text", { x: x(0.5), y: 74, "text-anchor": "middle" }, say("coin")),
    svg("text", { x: x(1), y: 74, "text-anchor": "end" }, "100 %"));
  return element("figure", "result-interval", drawing, element("figcaption", "", say("intervalCaption", { name, low: percent(low), high: percent(high) })));
}
