/**
 * The experiment on proxies: one reply, five ways to this page at once, each way's arrivals as a strip
 * on one axis, and the mending of each.
 */

import { Way } from "../lab/way.js";
import { startShared, stopShared } from "../lab/shared_reply.js";
import { gapsBetween } from "../measure/numbers.js";
import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { Figures } from "./lab_figures.js";
import { sliderKnob, sourceKnob } from "./lab_knobs.js";
import { LabStage } from "./lab_stage.js";
import { element } from "./parts.js";
import { Strip } from "./strip.js";

const DRAW_EVERY_MS = 100;
/** Bytes of one packet, as Nagle counts them. */
const PACKET_BYTES = 1400;

/** @typedef {{ flush_bytes: number, round_trip_ms: number }} Setting */

/** The ways, and how each is asked for. @type {{ name: string, path: (reply: string, setting: Setting) => string, hasFix: boolean }[]} */
const WAYS = [
  { name: "direct", path: (reply) => linked(reply, null), hasFix: false },
  { name: "buffered", path: (reply, { flush_bytes }) => linked(reply, { flush_bytes }), hasFix: true },
  { name: "gzip", path: (reply) => `api/lab/replies/${reply}/gzip?flush=end`, hasFix: true },
  { name: "flushed", path: (reply) => `api/lab/replies/${reply}/gzip?flush=each`, hasFix: false },
  { name: "nagle", path: (reply, { round_trip_ms }) => linked(reply, { flush_bytes: PACKET_BYTES, flush_ms: round_trip_ms }), hasFix: true },
];

/** @param {HTMLElement} page */
export async function mount(page) {
  const stage = new LabStage(page, 3);
  const source = await sourceKnob(location.href);
  const bytes = sliderKnob({ word: "flushBytes", min: 512, max: 16_384, step: 512, value: 4096, spell: (value) => say("bytes", { value }) });
  const trip = sliderKnob({ word: "ackDelay", min: 20, max: 640, step: 20, value: 200, note: say("ackDelayNote"), spell: (value) => say("milliseconds", { value }) });
  const length = sliderKnob({ word: "answerTokens", min: 48, max: 256, step: 16, value: 112, spell: (count) => say("countTokens", { count }) });
  stage.knobs.append(bytes.element, trip.element, length.element, source.element);
  stage.onRun((signal) => go(stage.picture, source.body(say("question"), length.value()), { flush_bytes: bytes.value(), round_trip_ms: trip.value() }, signal));
}

/** @param {HTMLElement} picture @param {object} body @param {Setting} setting @param {AbortSignal} signal @returns {Promise<string>} */
async function go(picture, body, setting, signal) {
  const lanes = WAYS.map(({ name, hasFix }) => new WayLane(name, hasFix));
  picture.replaceChildren(element("div", "lab-lanes", ...lanes.map((lane) => lane.element)));
  const began_ms = performance.now();
  const draw = () => {
    const now_ms = performance.now() - began_ms;
    const over = lanes.every(({ way }) => way.ended);
    const axis_ms = over ? Math.max(...lanes.map(({ way }) => way.last_ms)) * 1.03 : Math.max(3000, now_ms * 1.1);
    for (const lane of lanes) lane.show(now_ms, axis_ms);
  };
  const { reply } = await startShared(location.href, body, WAYS.length + 1);
  signal.addEventListener("abort", () => stopShared(location.href, reply), { once: true });
  const timer = setInterval(draw, DRAW_EVERY_MS);
  try {
    await Promise.all(WAYS.map(({ path }, i) => lanes[i]?.way.read(location.href, path(encodeURIComponent(reply), setting), began_ms, signal)));
  } finally {
    clearInterval(timer);
    draw();
  }
  return verdict(lanes.map(({ way }) => way));
}

class WayLane {
  way = new Way();

  /** @param {string} name @param {boolean} hasFix */
  constructor(name, hasFix) {
    this.strip = new Strip();
    this.figures = new Figures(["firstAt", "lastAt", "arrivalsCame", "longestGap"]);
    this.element = element("section", "lab-lane", element("h4", "", say(`${name}Way`)), element("p", "", say(`${name}How`)),
      this.strip.element, this.figures.element,
      ...(hasFix ? [element("p", "lab-fix", element("b", "", say("fix")), ` ${say(`${name}Fix`)}`)] : []));
    this.element.dataset.lane = name;
  }

  /** @param {number} now_ms @param {number} axis_ms */
  show(now_ms, axis_ms) {
    const { arrivals, ended, last_ms } = this.way;
    this.strip.show({ arrivals, now_ms: ended ? last_ms : now_ms, ended, axis_ms });
    const gaps = gapsBetween(arrivals);
    this.figures.show({
      firstAt: spellTime(arrivals[0]?.at_ms ?? null), lastAt: spellTime(ended ? last_ms : null), arrivalsCame: arrivals.length,
      longestGap: spellTime(gaps.length ? Math.max(...gaps) : null),
    });
  }
}

/** @param {Way[]} ways in the order of WAYS @returns {string} */
function verdict(ways) {
  const first = ways.map(({ arrivals }) => spellTime(arrivals[0]?.at_ms ?? null));
  const ends = ways.map(({ last_ms }) => last_ms);
  const tokens = (ways[0]?.arrivals ?? []).reduce((sum, arrival) => sum + arrival.tokens, 0);
  const same = ways.every(({ text }) => text === ways[0]?.text);
  const numbers = { tokens, direct: first[0] ?? "", buffered: first[1] ?? "", gzip: first[2] ?? "", spread: spellTime(Math.max(...ends) - Math.min(...ends)) };
  return `${say("verdict", numbers)} ${say(same ? "sameText" : "otherText")}`;
}

/** @param {string} reply @param {object | null} link */
function linked(reply, link) {
  return `api/replies/${reply}${link ? `?link=${encodeURIComponent(JSON.stringify(link))}` : ""}`;
}
