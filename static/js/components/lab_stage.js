/**
 * The frame of every experiment: a prediction unlocks the knobs, the button runs and stops, the picture
 * and the reasons show when there is something to see. It refuses to know what is run.
 *
 * @typedef {(signal: AbortSignal) => Promise<string>} Run gives the sentence that says what happened
 */

import { sayCaught } from "../stream/failure.js";
import { say } from "../words.js";
import { element, part, setText } from "./parts.js";

export class LabStage {
  /** @type {AbortController | null} */
  #running = null;

  /** @param {ParentNode} page @param {number} numChoices answers are the words choice1, choice2, … */
  constructor(page, numChoices) {
    this.knobs = part(page, "knobs", HTMLFieldSetElement);
    this.picture = part(page, "picture", HTMLElement);
    this.state = part(page, "state", HTMLElement);
    this.outcome = part(page, "outcome", HTMLElement);
    this.why = part(page, "why", HTMLElement);
    this.said = part(page, "said", HTMLElement);
    this.verdict = part(page, "verdict", HTMLElement);
    this.button = part(page, "run", HTMLButtonElement);
    this.choices = part(page, "choices", HTMLFieldSetElement);
    for (let i = 1; i <= numChoices; i += 1) this.choices.append(choice(i));
    this.choices.addEventListener("change", () => this.#unlock());
  }

  /** @param {Run} run */
  onRun(run) {
    this.button.addEventListener("click", () => {
      if (this.#running) this.#running.abort();
      else void this.#go(run);
    });
  }

  // Private

  #unlock() {
    if (this.knobs.disabled) setText(this.state, say("ready"));
    this.knobs.disabled = false;
    this.button.disabled = false;
  }

  /** @param {Run} run */
  async #go(run) {
    const running = new AbortController();
    this.#running = running;
    const leave = () => running.abort();
    addEventListener("pagehide", leave);
    this.#show("running", "halt");
    this.outcome.hidden = false;
    setText(this.verdict, "");
    setText(this.said, say("youSaid", { what: this.choices.querySelector("label:has(:checked)")?.textContent ?? "" }));
    try {
      setText(this.verdict, await run(running.signal));
      this.#show(running.signal.aborted ? "halted" : "over", "run");
    } catch (error) {
      // Whoever stopped it knows why it did not end well.
      if (running.signal.aborted) this.#show("halted", "run");
      else this.#show("failed", "run", sayCaught(error));
    }
    removeEventListener("pagehide", leave);
    running.abort();
    this.#running = null;
    this.why.hidden = false;
  }

  /** @param {string} state @param {string} label @param {string} [why] */
  #show(state, label, why = "") {
    this.outcome.dataset.state = state;
    this.state.toggleAttribute("data-failed", state === "failed");
    setText(this.state, say(state, { why }));
    setText(this.button, say(label));
    this.button.classList.toggle("halt", label === "halt");
  }
}

// Private

/** @param {number} i */
function choice(i) {
  const input = document.createElement("input");
  Object.assign(input, { type: "radio", name: "prediction", value: String(i) });
  return element("label", "", input, element("span", "", say(`choice${i}`)));
}
