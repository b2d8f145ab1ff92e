/**
 * What stands below the first screen once a race is over: its numbers, the proof, and the files it can
 * be kept as. Where a recording comes from (this page, the server) is handed in.
 */

import { csvOf } from "../race/csv.js";
import { NotComplete } from "../race/recording.js";
import { say } from "../words.js";
import { download } from "./download.js";
import { part, setText } from "./parts.js";
import { pictureOf } from "./race_picture.js";
import { proofText, showNumbers } from "./race_table.js";

/**
 * @typedef {import("../race/race.js").Race} Race
 * @typedef {object} Makers
 * @property {(race: Race) => Promise<Record<string, unknown>>} recording throws NotComplete
 * @property {((recording: Record<string, unknown>) => Promise<Blob>) | null} html the page that replays it; null: cannot be made here
 */

export class More {
  /** @type {Race | null} */
  #race = null;

  /** @param {HTMLElement} root @param {Makers} makers */
  constructor(root, makers) {
    this.root = root;
    this.alert = part(root, "save-alert", HTMLElement);
    const json = async () => new Blob([JSON.stringify(await this.#recording(makers))], { type: "application/json" });
    this.#mount("save-json", "json", json);
    this.#mount("save-csv", "csv", async () => new Blob(["\ufeff", csvOf(/** @type {Race} */ (this.#race))], { type: "text/csv;charset=utf-8" }));
    this.#mount("save-png", "png", () => pictureOf(/** @type {Race} */ (this.#race)));
    const { html } = makers;
    if (html) this.#mount("save-html", "html", async () => html(await this.#recording(makers)));
  }

  /** @param {Race | null} race one that is over; null: there is none */
  show(race) {
    this.root.hidden = race === null;
    this.#race = race;
    setText(this.alert, "");
    if (!race) return;
    showNumbers(part(this.root, "numbers", HTMLTableElement), race);
    setText(part(this.root, "proof", HTMLElement), proofText(race));
  }

  // Private

  /** @param {Makers} makers */
  async #recording(makers) {
    const race = /** @type {Race} */ (this.#race);
    race.file ??= await makers.recording(race);
    return race.file;
  }

  /** @param {string} name @param {string} suffix @param {() => Promise<Blob>} make */
  #mount(name, suffix, make) {
    part(this.root, name, HTMLButtonElement).addEventListener("click", async () => {
      const race = this.#race;
      if (!race) return;
      try {
        download(`firstword-race-${race.madeAt.replace(/[^0-9T]/g, "").slice(0, 15)}.${suffix}`, await make());
        setText(this.alert, "");
      } catch (error) {
        setText(this.alert, error instanceof NotComplete ? say("notComplete") : say("saveFailed", { why: String(/** @type {Error} */ (error).message) }));
      }
    });
  }
}
