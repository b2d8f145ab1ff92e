/**
 * The experiment on protocols: one reply on all wires at once; the bytes as they came, what stood around
 * the text, and how each wire told the end.
 */

import { RawWire } from "../lab/raw_wire.js";
import { readOn, wiresOf } from "../lab/raw_wires.js";
import { startShared, startStaged, stopShared } from "../lab/shared_reply.js";
import { asHex, asText } from "../lab/spell_bytes.js";
import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { Figures } from "./lab_figures.js";
import { listKnob, sourceKnob } from "./lab_knobs.js";
import { LabStage } from "./lab_stage.js";
import { element, setText } from "./parts.js";

const DRAW_EVERY_MS = 150;
const TOKENS = 64;
const SHOWN_BYTES = 600;
const STREAMING = ["socket", "sse", "ndjson", "plain", "grpc"];
const ENDS = { waiting: "endWaiting", done: "endDone", error: "endError", broken: "endBroken", silent: "endSilent" };

/** @param {HTMLElement} page */
export async function mount(page) {
  const stage = new LabStage(page, 3);
  const [source, names] = await Promise.all([sourceKnob(location.href), wiresOf(location.href)]);
  const said = listKnob({ word: "said", options: [
    { value: "", label: say("sayModel") }, { value: "failing", label: say("sayFailing") }, { value: "ambiguous", label: say("sayAmbiguous") },
  ] });
  const shown = listKnob({ word: "shownAs", options: [{ value: "text", label: say("shownText") }, { value: "hex", label: say("shownHex") }] });
  stage.knobs.append(said.element, source.element, shown.element);
  /** @type {WireLane[]} */
  let lanes = [];
  shown.select.addEventListener("change", () => lanes.forEach((lane) => lane.show(shown.value())));
  stage.onRun(async (signal) => {
    const staging = said.value();
    const began_ms = performance.now();
    lanes = names.map((name) => new WireLane(name, new RawWire(began_ms)));
    stage.picture.replaceChildren(element("div", "lab-lanes pairs", ...lanes.map((lane) => lane.element)),
      element("p", "lab-end", say("aroundNote")), element("p", "lab-end", say(names.includes("grpc") ? "grpcHow" : "grpcOff")));
    const { reply, poller } = staging
      ? await startStaged(location.href, staging, names.length)
      : await startShared(location.href, source.body(say("question"), TOKENS), names.length);
    signal.addEventListener("abort", () => stopShared(location.href, reply), { once: true });
    const draw = () => lanes.forEach((lane) => lane.show(shown.value()));
    const timer = setInterval(draw, DRAW_EVERY_MS);
    try {
      await Promise.all(lanes.map(({ name, wire }) => readOn(name, wire, { page: location.href, reply, poller, signal })));
    } finally {
      clearInterval(timer);
      const tokens = Math.max(1, ...lanes.map(({ wire }) => wire.tokens));
      lanes.forEach((lane) => lane.count(tokens));
      draw();
    }
    return signal.aborted ? "" : verdict(staging, lanes);
  });
}

class WireLane {
  /** Bytes around each token; known at the end, when the tokens are. @type {number | null} */
  around = null;

  /** @param {string} name @param {RawWire} wire */
  constructor(name, wire) {
    this.name = name;
    this.wire = wire;
    this.figures = new Figures(["firstAt", "piecesCame", "textBytes", "around"]);
    this.end = element("p", "lab-end");
    this.raw = element("ol", "raw");
    this.raw.tabIndex = 0;
    this.raw.setAttribute("aria-label", say("rawOf", { name: say(`${name}Wire`) }));
    this.element = element("section", "lab-lane", element("h4", "", say(`${name}Wire`)), this.figures.element, this.end, this.raw,
      ...["Cancel", "Resume"].map((fact) => element("p", "lab-fix", element("b", "", say(fact.toLowerCase())), ` ${say(`${name}${fact}`)}`)));
    this.element.dataset.lane = name;
  }

  /** @param {number} tokens of the reply */
  count(tokens) {
    const { bodyBytes, frameBytes, textBytes } = this.wire;
    this.around = Math.max(0, bodyBytes + frameBytes - textBytes) / tokens;
  }

  /** @param {string} kind */
  show(kind) {
    const { wire } = this;
    const { kind: end, message } = wire.end;
    this.element.dataset.end = end;
    this.figures.show({
      firstAt: spellTime(wire.first_ms), piecesCame: wire.numPieces, textBytes: wire.textBytes,
      around: this.around === null ? say("none") : this.around.toFixed(this.around < 9.95 ? 1 : 0),
    });
    this.end.toggleAttribute("data-failed", end === "error" || end === "broken");
    setText(this.end, say(ENDS[end], { message }));
    const spell = kind === "hex" ? asHex : asText;
    wire.pieces.forEach(({ at_ms, bytes, name }, i) => {
      const line = this.raw.children[i] ?? this.raw.appendChild(element("li", "", element("span", "raw-time"), element("code", "")));
      setText(/** @type {Element} */ (line.firstChild), `+${(at_ms / 1000).toFixed(3)} s ${name}`);
      setText(/** @type {Element} */ (line.lastChild), spell(bytes, SHOWN_BYTES));
    });
  }
}

/** @param {string} staging @param {WireLane[]} lanes @returns {string} */
function verdict(staging, lanes) {
  if (staging === "ambiguous") return say("verdictAmbiguous");
  if (staging === "failing") return say("verdictFailing", { told: lanes.filter(({ wire }) => wire.end.kind === "error").length, all: lanes.length });
  // A wire on which nothing came says so itself, and is no number.
  const come = lanes.filter(({ wire }) => wire.first_ms !== null);
  const first = come.filter(({ name }) => STREAMING.includes(name)).map(({ wire }) => wire.first_ms ?? 0);
  if (first.length === 0) return "";
  const around = come.map((lane) => lane.around ?? 0);
  const whole = lanes.find(({ name }) => name === "whole")?.wire.first_ms ?? null;
  return say("verdictDone", {
    early: spellTime(Math.min(...first)), late: spellTime(Math.max(...first)), whole: spellTime(whole),
    least: Math.round(Math.min(...around)), most: Math.round(Math.max(...around)),
  });
}
