/**
 * The question and everything that is set before a race: prompt, sampling, lanes, and which recording
 * plays instead of the model. It holds the experiment and tells when it has changed; whether and when
 * to run is the page's.
 *
 * @typedef {import("../race/experiment.js").Experiment} Experiment
 * @typedef {import("../race/lane_settings.js").LaneSettings} LaneSettings
 * @typedef {import("../race/archive.js").Shipped} Shipped
 */

import { LIMITS, within } from "../race/experiment.js";
import { MAX_LANES, MIN_LANES, PRESETS, USUAL_LANES } from "../race/lane_settings.js";
import { spellTime } from "../measure/spelling.js";
import { say } from "../words.js";
import { mountCopy } from "./clipboard.js";
import { part, setText } from "./parts.js";

/** @type {(keyof typeof LIMITS)[]} */
const NUMBERS = ["maxTokens", "temperature", "seed", "tokensPerSecond", "wordsPerMinute"];

export class Setup {
  #live = false;

  /**
   * @param {HTMLElement} root
   * @param {Experiment} experiment
   * @param {{ changed(fields: Partial<Experiment>): void, run(at_ms: number): void, open(file: File): void, link(): string,
   *   question(id: string): Promise<string> }} tell
   */
  constructor(root, experiment, tell) {
    this.root = root;
    this.experiment = experiment;
    this.tell = tell;
    this.prompt = part(root, "prompt", HTMLTextAreaElement);
    this.runButton = part(root, "run", HTMLButtonElement);
    this.alert = part(root, "settings-alert", HTMLElement);
    root.addEventListener("submit", (event) => {
      event.preventDefault();
      tell.run(event.timeStamp);
    });
    this.prompt.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      tell.run(event.timeStamp);
    });
    this.prompt.addEventListener("input", () => this.#change({ prompt: this.prompt.value }));
    for (const name of NUMBERS) this.#mountNumber(name);
    const separate = part(root, "separate", HTMLInputElement);
    separate.addEventListener("change", () => this.#change({ separate: separate.checked }));
    part(root, "add-lane", HTMLButtonElement).addEventListener("click", () => this.addLane());
    part(root, "use-model", HTMLButtonElement).addEventListener("click", () => this.#change({ recording: "" }));
    const file = part(root, "open-json", HTMLInputElement);
    file.addEventListener("change", () => {
      if (file.files?.[0]) tell.open(file.files[0]);
      file.value = "";
      this.closeMenus();
    });
    this.#mountPresets();
    mountCopy(part(root, "copy-link", HTMLButtonElement), () => tell.link());
    document.addEventListener("click", (event) => event.target instanceof Node && this.closeMenus(event.target));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.closeMenus());
    this.show();
  }

  /** A race is running, or not: then the prompt and the settings can be changed. @param {boolean} live */
  setLive(live) {
    if (this.#live === live) return;
    this.#live = live;
    this.show();
  }

  /** @param {number} index @param {LaneSettings | null} settings null: without this lane */
  changeLane(index, settings) {
    const lanes = this.experiment.lanes.flatMap((lane, i) => (i !== index ? [lane] : settings ? [settings] : []));
    if (lanes.length >= MIN_LANES) this.#change({ lanes });
  }

  addLane() {
    const { lanes } = this.experiment;
    const next = USUAL_LANES.find((usual) => !lanes.some((lane) => lane.delivery === usual.delivery)) ?? { delivery: "word", wire: "socket", link: "direct" };
    if (lanes.length < MAX_LANES) this.#change({ lanes: [...lanes, /** @type {LaneSettings} */ (next)] });
  }

  /** @param {Shipped[]} recordings */
  offer(recordings) {
    part(this.root, "recordings", HTMLElement).replaceChildren(...recordings.map((recording) => {
      const name = document.createElement("b");
      name.textContent = recording.title;
      const line = document.createElement("small");
      line.textContent = say("recordingLine", { model: recording.model, tokens: recording.tokens, time: spellTime(recording.total_ms) });
      return this.#choice([name, line], async () => {
        const prompt = await this.tell.question(recording.id).catch(() => recording.title);
        this.#change({ recording: recording.id, prompt });
      });
    }));
    if (recordings.length === 0) part(this.root, "recordings", HTMLElement).textContent = say("recordingsNone");
  }

  /** One calm line under the question. @param {string} text "" when it is over */
  note(text) {
    const line = part(this.root, "ask-note", HTMLElement);
    line.hidden = !text;
    setText(line, text);
  }

  /** @param {Node} [except] a click in here */
  closeMenus(except) {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (except && menu.contains(except)) continue;
      if (!except && menu.contains(document.activeElement)) menu.querySelector("summary")?.focus();
      menu.removeAttribute("open");
    }
  }

  /** Write the experiment into the fields. */
  show() {
    const { experiment } = this;
    const plays = experiment.recording !== "";
    if (this.prompt.value !== experiment.prompt) this.prompt.value = experiment.prompt;
    this.prompt.readOnly = this.#live || plays;
    for (const name of NUMBERS) {
      const field = part(this.root, name, HTMLInputElement);
      if (document.activeElement !== field) {
        field.value = String(experiment[name] ?? "");
        field.removeAttribute("aria-invalid");
      }
      field.disabled = this.#live || (plays && name !== "wordsPerMinute");
    }
    part(this.root, "separate", HTMLInputElement).checked = experiment.separate;
    part(this.root, "separate", HTMLInputElement).disabled = this.#live;
    part(this.root, "add-lane", HTMLButtonElement).disabled = this.#live || experiment.lanes.length >= MAX_LANES;
    part(this.root, "use-model", HTMLButtonElement).hidden = !plays;
    setText(part(this.root, "run-label", HTMLElement), say(this.#live ? "stop" : "run"));
    this.runButton.classList.toggle("halt", this.#live);
  }

  // Private

  /** @param {Partial<Experiment>} fields */
  #change(fields) {
    if (this.#live) return;
    this.experiment = { ...this.experiment, ...fields };
    this.show();
    this.tell.changed(fields);
  }

  /** @param {keyof typeof LIMITS} name */
  #mountNumber(name) {
    const field = part(this.root, name, HTMLInputElement);
    const { least, most } = LIMITS[name];
    field.min = String(least);
    field.max = String(most);
    field.addEventListener("change", () => {
      const isEmpty = field.value.trim() === "" && LIMITS[name].usual === null;
      const value = isEmpty ? null : within(Number(field.value), name);
      const fits = isEmpty || value !== null;
      field.setAttribute("aria-invalid", String(!fits));
      setText(this.alert, fits ? "" : say("outOfLimits", { name: field.labels?.[0]?.textContent?.trim() ?? name, least, most }));
      if (fits) this.#change({ [name]: value });
    });
  }

  #mountPresets() {
    const list = part(this.root, "presets", HTMLElement);
    list.replaceChildren(...Object.entries(PRESETS).map(([name, lanes]) => this.#choice([say(`preset_${name}`)], () => this.#change({ lanes }))));
  }

  /** @param {(Node | string)[]} content @param {() => void} chosen */
  #choice(content, chosen) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "choice";
    button.append(...content);
    button.addEventListener("click", () => {
      chosen();
      this.closeMenus();
    });
    return button;
  }
}
