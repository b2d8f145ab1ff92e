/**
 * What comes next: the lesson's rounds as a row of choices, the next one already chosen, and the fields of
 * the chosen one. It makes plans and hands them on; what the room makes of them is its own.
 */

import { readLane } from "../race/lane_settings.js";
import { nameOf } from "../race/lane_words.js";
import { DELAYED, KINDS, LANES, nextKind, roundPlan, RULES } from "../rooms/round_plans.js";
import { say } from "../words.js";
import { element, part } from "./parts.js";

/** @typedef {import("../rooms/round_plans.js").Kind | "sending"} Choice */

export class RoomSetup {
  /** How many rounds the suggestion was made for. */
  #suggested = -1;

  /**
   * @param {HTMLElement} page
   * @param {(command: object) => void} tell
   */
  constructor(page, tell) {
    this.page = page;
    this.tell = tell;
    this.root = part(page, "setup", HTMLElement);
    part(page, "kinds", HTMLFieldSetElement).append(...[...KINDS, "sending"].map(kindChoice));
    for (const [name, chosen] of [["lane-a", "token"], ["lane-b", "whole"]]) {
      const select = part(page, String(name), HTMLSelectElement);
      select.append(...LANES.map((lane) => new Option(laneName(lane), lane)));
      select.value = String(chosen);
    }
    part(page, "closes", HTMLSelectElement).append(...RULES.map((rule) => new Option(say(`closes_${rule}`), rule)));
    part(page, "stimulus", HTMLSelectElement).append(new Option(say("stimulusLive"), ""));
    part(page, "prompt", HTMLTextAreaElement).value = say("usualPrompt");
    this.root.addEventListener("change", () => this.#arrange());
    part(page, "round-form", HTMLFormElement).addEventListener("submit", (event) => { event.preventDefault(); this.open(); });
    part(page, "sending-form", HTMLFormElement).addEventListener("submit", (event) => { event.preventDefault(); this.open(); });
    this.#choose("usual");
  }

  /** @param {import("../race/archive.js").Shipped[]} recordings */
  offer(recordings) {
    part(this.page, "stimulus", HTMLSelectElement).append(...recordings.map(({ id, title }) => new Option(title, id)));
  }

  /** @param {import("../rooms/room_frames.js").Room} room @param {boolean} isResting */
  show(room, isResting) {
    this.root.hidden = !isResting || room.closed;
    // The round that still stands on the wall is not among those that were kept.
    const past = [...(room.rounds ?? []), ...(room.round?.plan ? [{ catch: room.round.plan.catch === true, flip: room.round.plan.flip === true }] : [])];
    if (past.length === this.#suggested) return;
    this.#suggested = past.length;
    this.#choose(nextKind(past));
  }

  /** Open what is chosen. */
  open() {
    const { page } = this;
    const number = (/** @type {string} */ name) => Math.min(512, Math.max(1, Math.round(Number(part(page, name, HTMLInputElement).value)) || 1));
    const isOn = (/** @type {string} */ name) => part(page, name, HTMLInputElement).checked;
    const chosen = (/** @type {string} */ name) => part(page, name, HTMLSelectElement).value;
    const kind = this.#kind();
    if (kind === "sending") {
      const prompt = part(page, "sending-prompt", HTMLTextAreaElement).value.trim();
      return this.tell({ type: "open_sending", plan: { mode: chosen("mode"), max_tokens: number("sending-tokens"), ...(prompt ? { prompt } : {}) } });
    }
    this.tell({
      type: "open_round",
      plan: roundPlan({
        kind, lanes: [chosen("lane-a"), chosen("lane-b")], closes: /** @type {any} */ (chosen("closes")), prompt: part(page, "prompt", HTMLTextAreaElement).value,
        recording: chosen("stimulus"), question: chosen("asks") === "rather" ? "rather" : "faster",
        askPrediction: isOn("ask-prediction"), askFelt: isOn("ask-felt"), mirror: isOn("mirror"), maxTokens: number("tokens"),
      }, laneName),
    });
  }

  // Private

  /** @returns {Choice} */
  #kind() {
    const checked = this.root.querySelector("input[name=kind]:checked");
    return checked instanceof HTMLInputElement ? /** @type {Choice} */ (checked.value) : "usual";
  }

  /** @param {Choice} kind */
  #choose(kind) {
    const radio = this.root.querySelector(`input[name=kind][value=${kind}]`);
    if (radio instanceof HTMLInputElement) radio.checked = true;
    this.#arrange();
  }

  #arrange() {
    const isSending = this.#kind() === "sending";
    const isRecorded = part(this.page, "stimulus", HTMLSelectElement).value !== "";
    part(this.page, "round-form", HTMLFormElement).hidden = isSending;
    part(this.page, "sending-form", HTMLFormElement).hidden = !isSending;
    part(this.page, "lane-b-row", HTMLElement).hidden = this.#kind() === "catch";
    part(this.page, "prompt-row", HTMLElement).hidden = isRecorded;
    part(this.page, "tokens-row", HTMLElement).hidden = isRecorded;
  }
}

// Private

/** @param {string} lane @returns {string} as the race calls it */
function laneName(lane) {
  const settings = lane === DELAYED ? null : readLane(lane);
  return settings ? nameOf({ settings }) : say("laneDelayed");
}

/** @param {string} kind */
function kindChoice(kind) {
  const radio = /** @type {HTMLInputElement} */ (element("input", ""));
  radio.type = "radio";
  radio.name = "kind";
  radio.value = kind;
  return element("label", "kind", radio, element("b", "", say(`kind_${kind}`)), element("small", "", say(`kindHint_${kind}`)));
}
