/**
 * One lane's card: its name and settings, the large clock that stops at the first word, and the text,
 * or hatched paper while there is none. What it shows is the lane at a moment, and nothing else; moving
 * back shows less again. Its menu tells a changed lane and a removed one.
 */

import { DELIVERIES, LINKS, WIRES } from "../race/lane_settings.js";
import { nameOf, settingsText } from "../race/lane_words.js";
import { lastWordOf, see, textOf, wasStopped } from "../race/lane.js";
import { spellClock, spellTime } from "../measure/spelling.js";
import { sayFailure } from "../stream/failure.js";
import { fillWords, say } from "../words.js";
import { fromTemplate, part, setText } from "./parts.js";

/**
 * @typedef {import("../race/lane.js").Lane} Lane
 * @typedef {import("../race/lane_settings.js").LaneSettings} LaneSettings
 */

export class LaneCard {
  #shown = 0;
  #follows = true;

  /**
   * @param {Lane} lane
   * @param {{ change(settings: LaneSettings): void, remove(): void } | null} tell null: it cannot be changed
   */
  constructor(lane, tell) {
    this.lane = lane;
    this.element = fromTemplate("lane-template");
    fillWords(this.element);
    this.clock = part(this.element, "clock", HTMLElement);
    this.state = part(this.element, "state", HTMLElement);
    this.waiting = part(this.element, "waiting", HTMLElement);
    this.could = part(this.element, "could", HTMLElement);
    this.text = part(this.element, "text", HTMLElement);
    this.note = part(this.element, "note", HTMLElement);
    this.menu = part(this.element, "menu", HTMLDetailsElement);
    this.letters = document.createTextNode("");
    this.text.append(this.letters);
    this.text.addEventListener("scroll", () => {
      this.#follows = this.text.scrollHeight - this.text.scrollTop - this.text.clientHeight < 24;
    });
    setText(part(this.element, "name", HTMLElement), nameOf(lane));
    setText(part(this.element, "settings", HTMLElement), settingsText(lane.settings));
    this.element.dataset.delivery = lane.settings.delivery;
    this.#mountMenu(tell);
  }

  /**
   * @param {number | null} at_ms the moment; null: not begun
   * @param {number} readable words that somebody has read by now in the lane that is furthest
   * @returns {boolean} whether text was added to what is shown
   */
  draw(at_ms, readable) {
    const seen = see(this.lane, at_ms ?? 0);
    const begun = at_ms !== null;
    const added = begun && seen.arrivals > this.#shown;
    if (begun ? seen.arrivals !== this.#shown : this.#shown > 0) this.#write(begun ? seen.arrivals : 0);
    const isWaiting = begun && !seen.first && !seen.ended;
    this.element.dataset.state = !begun ? "idle" : seen.ended ? (this.lane.error ? "failed" : "over") : seen.first ? "reading" : "waiting";
    setText(this.clock, seen.first && begun ? say("seconds", { value: (seen.clock_ms / 1000).toFixed(2) }) : spellClock(begun ? seen.clock_ms : 0));
    setText(this.state, say(!begun ? "laneIdle" : seen.first ? "laneFirst" : seen.ended ? "laneNoWord" : "laneWaiting"));
    this.waiting.hidden = !isWaiting;
    if (isWaiting) setText(this.could, readable > 0 ? say("couldHaveRead", { count: readable }) : "");
    setText(this.note, begun && seen.ended ? this.#ending() : "");
    return added;
  }

  /** @param {boolean} can whether its settings may be changed now */
  allowChange(can) {
    this.menu.classList.toggle("locked", !can);
    if (!can) this.menu.open = false;
  }

  // Private

  /** @param {number} arrivals */
  #write(arrivals) {
    if (arrivals > this.#shown) {
      this.letters.appendData(this.lane.arrivals.slice(this.#shown, arrivals).map(({ text }) => text).join(""));
    } else {
      this.letters.data = textOf(this.lane, arrivals);
      this.#follows = true;
    }
    this.#shown = arrivals;
    if (this.#follows) this.text.scrollTop = this.text.scrollHeight;
  }

  #ending() {
    const { lane } = this;
    if (lane.error?.code === "connection_lost") return say("laneBroke", { why: sayFailure(lane.error) });
    if (lane.error) return say("laneRefused", { why: sayFailure(lane.error) });
    if (wasStopped(lane)) return say("laneStopped");
    if (lane.arrivals.length === 0) return "";
    const over = say("laneOver", { time: spellTime(lastWordOf(lane)) });
    return lane.done?.finish_reason === "length" ? `${over} · ${say("laneCut")}` : over;
  }

  /** @param {{ change(settings: LaneSettings): void, remove(): void } | null} tell */
  #mountMenu(tell) {
    const { settings } = this.lane;
    const summary = part(this.element, "menu-button", HTMLElement);
    summary.setAttribute("aria-label", say("laneSettings", { lane: `${nameOf(this.lane)}: ${settingsText(settings)}` }));
    this.menu.addEventListener("toggle", () => this.menu.classList.contains("locked") && (this.menu.open = false));
    fill(part(this.element, "delivery", HTMLSelectElement), DELIVERIES, "delivery_", settings.delivery);
    fill(part(this.element, "wire", HTMLSelectElement), WIRES, "wire_", settings.wire);
    fill(part(this.element, "link", HTMLSelectElement), Object.keys(LINKS), "link_", settings.link);
    const remove = part(this.element, "remove", HTMLButtonElement);
    if (!tell) return this.allowChange(false);
    this.menu.addEventListener("change", () => tell.change(/** @type {LaneSettings} */ ({
      delivery: part(this.element, "delivery", HTMLSelectElement).value,
      wire: part(this.element, "wire", HTMLSelectElement).value,
      link: part(this.element, "link", HTMLSelectElement).value,
    })));
    remove.addEventListener("click", () => tell.remove());
  }
}

// Private

/** @param {HTMLSelectElement} select @param {readonly string[]} names @param {string} prefix @param {string} chosen */
function fill(select, names, prefix, chosen) {
  select.replaceChildren(...names.map((name) => new Option(say(prefix + name), name, false, name === chosen)));
}
