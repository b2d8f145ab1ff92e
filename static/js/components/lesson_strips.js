/**
 * The lesson's pictures that are strips: reading along, the race, the envelope. All three show one real
 * recorded answer; what is made of it (all at once, in envelopes) is computed from its own arrivals.
 *
 * @typedef {import("../learn/models.js").Arrival} Arrival
 */

import { atOnce, readAlong, throughBuffer } from "../learn/models.js";
import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { element, setText } from "./parts.js";
import { slider } from "./lesson_slider.js";
import { Strip } from "./strip.js";

/** @param {HTMLElement} figure @param {Arrival[]} arrivals */
export function mountReading(figure, arrivals) {
  const strip = new Strip();
  const verdict = element("p", "demo-verdict");
  const speed = slider({ min: 80, max: 800, step: 20, value: 240, label: (count) => say("readingSpeed", { count }) }, (value) => {
    const { waits_ms, ahead_ms } = readAlong(arrivals, value);
    const first = spellTime(arrivals[0]?.at_ms ?? null);
    // A crumb of waiting, less than a blink in all, is no waiting.
    const never = waits_ms < 150;
    setText(verdict, say(never ? "readingNever" : "readingWaits", { first, ahead: spellTime(ahead_ms), waits: spellTime(waits_ms) }));
  });
  figure.append(caption("demoReading"), strip.element, speed, verdict);
  strip.show(drawn(arrivals));
}

/** @param {HTMLElement} figure @param {Arrival[]} arrivals */
export function mountRace(figure, arrivals) {
  const lanes = [{ name: "streamed", arrivals }, { name: "whole", arrivals: atOnce(arrivals) }];
  const end_ms = arrivals.at(-1)?.at_ms ?? 0;
  const axis_ms = end_ms * 1.04;
  const views = lanes.map((lane) => {
    const strip = new Strip();
    const text = element("p", "lane-text");
    figure.append(element("div", "lane", element("h3", "", say(lane.name)), text, strip.element));
    const show = (/** @type {number} */ now_ms) => {
      const come = lane.arrivals.filter(({ at_ms }) => at_ms <= now_ms);
      setText(text, come.map((arrival) => arrival.text).join(""));
      strip.show({ arrivals: come, now_ms: Math.min(now_ms, end_ms), ended: now_ms >= end_ms, axis_ms });
    };
    show(end_ms);
    return show;
  });
  const play = element("button", "quiet", say("play"));
  play.setAttribute("type", "button");
  /** @type {number | null} */
  let began_ms = null;
  const frame = (/** @type {number} */ stamp_ms) => {
    began_ms ??= stamp_ms;
    const now_ms = Math.min(stamp_ms - began_ms, end_ms);
    for (const show of views) show(now_ms);
    if (now_ms < end_ms) requestAnimationFrame(frame);
    else setText(play, say("playAgain"));
  };
  play.addEventListener("click", () => {
    const runs = began_ms !== null && play.textContent === say("play");
    began_ms = null;
    setText(play, say("play"));
    if (!runs) requestAnimationFrame(frame);
  });
  const more = element("a", "", say("demoRaceMore"));
  more.setAttribute("href", "/compare");
  const first_ms = arrivals[0]?.at_ms ?? 0;
  const tokens = arrivals.reduce((sum, arrival) => sum + arrival.tokens, 0);
  const verdict = say("raceVerdict", { tokens, first: spellTime(first_ms), whole: spellTime(end_ms), times: Math.round(end_ms / first_ms) });
  figure.prepend(caption("demoRace"));
  figure.append(element("p", "demo-verdict", verdict), element("p", "demo-tools", play, more));
}

/** @param {HTMLElement} figure @param {Arrival[]} arrivals */
export function mountBuffer(figure, arrivals) {
  const axis_ms = (arrivals.at(-1)?.at_ms ?? 0) * 1.04;
  const [direct, held] = [new Strip(), new Strip()];
  const verdict = element("p", "demo-verdict");
  const size = slider({ min: 16, max: 1024, step: 16, value: 128, label: (count) => say("envelope", { count }) }, (bytes) => {
    const bursts = throughBuffer(arrivals, bytes);
    held.show({ ...drawn(bursts), axis_ms });
    setText(verdict, say("bufferNote", {
      bursts: say("bursts", { count: bursts.length }), arrivals: arrivals.length,
      held: spellTime(bursts[0]?.at_ms ?? null), direct: spellTime(arrivals[0]?.at_ms ?? null),
    }));
  });
  figure.append(caption("demoBuffer"), lane("bufferDirect", direct), lane("bufferHeld", held), size, verdict);
  direct.show({ ...drawn(arrivals), axis_ms });
}

/** @param {string} word @returns {HTMLElement} */
export function caption(word) {
  return element("figcaption", "", say(word));
}

// Private

/** @param {Arrival[]} arrivals */
function drawn(arrivals) {
  return { arrivals, now_ms: arrivals.at(-1)?.at_ms ?? 0, ended: true };
}

/** @param {string} word @param {Strip} strip */
function lane(word, strip) {
  return element("div", "lane", element("h3", "", say(word)), strip.element);
}
