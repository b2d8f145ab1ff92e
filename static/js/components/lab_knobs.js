/** The lab's knobs: sliders and lists with their names, values and one line of explanation. */

import { httpAddress } from "../stream/address.js";
import { say } from "../words.js";
import { element, setText } from "./parts.js";

let knobs = 0;

/**
 * @param {{ word: string, min: number, max: number, step: number, value: number, note?: string,
 *   spell: (value: number) => string }} range
 * @returns {{ element: HTMLElement, value: () => number }}
 */
export function sliderKnob({ word, min, max, step, value, note, spell }) {
  const input = document.createElement("input");
  Object.assign(input, { type: "range", min: String(min), max: String(max), step: String(step), id: `knob-${(knobs += 1)}` });
  input.value = String(value);
  const told = element("output", "");
  const show = () => {
    setText(told, spell(Number(input.value)));
    input.setAttribute("aria-valuetext", spell(Number(input.value)));
  };
  input.addEventListener("input", show);
  show();
  return { element: knob(word, input, told, note), value: () => Number(input.value) };
}

/**
 * @param {{ word: string, options: { value: string, label: string }[], value?: string, note?: string }} list
 * @returns {{ element: HTMLElement, value: () => string, select: HTMLSelectElement }}
 */
export function listKnob({ word, options, value, note }) {
  const select = document.createElement("select");
  select.id = `knob-${(knobs += 1)}`;
  for (const option of options) select.append(new Option(option.label, option.value));
  if (value !== undefined) select.value = value;
  return { element: knob(word, select, null, note), value: () => select.value, select };
}

/**
 * Who answers: the live model, or a recording that ships, which needs no model.
 * @param {string} page the page's own address
 * @returns {Promise<{ element: HTMLElement, isLive: () => boolean,
 *   body: (prompt: string, max_tokens: number) => object }>} `body`: the fields of a start
 */
export async function sourceKnob(page) {
  const [cards, ready] = await Promise.all([recordings(page), isReady(page)]);
  const options = [
    { value: "", label: say("sourceModel") },
    ...cards.map(({ id, title }) => ({ value: id, label: say("sourceRecording", { title }) })),
  ];
  const value = ready ? "" : (cards[0]?.id ?? "");
  const list = listKnob({ word: "source", options, value, ...(ready ? {} : { note: say("sourceLoading") }) });
  return {
    element: list.element,
    isLive: () => list.value() === "",
    body: (prompt, max_tokens) => list.value()
      ? { recording: list.value() }
      : { messages: [{ role: "user", content: prompt }], max_tokens, temperature: 0.7, seed: 7, ignore_eos: true },
  };
}

/**
 * The live model, or a run that was recorded with it, in which some knobs are fixed and so not shown.
 * @param {boolean} isReady whether a model is there to ask @param {HTMLElement[]} liveOnly
 * @returns {{ element: HTMLElement, isRecorded: () => boolean }}
 */
export function runSourceKnob(isReady, liveOnly) {
  const options = [{ value: "live", label: say("sourceModel") }, { value: "recorded", label: say("sourceRun") }];
  const list = listKnob({ word: "source", options, value: isReady ? "live" : "recorded", note: say("recordedNote") });
  const show = () => liveOnly.forEach((knob) => (knob.hidden = list.value() === "recorded"));
  list.select.addEventListener("change", show);
  show();
  return { element: list.element, isRecorded: () => list.value() === "recorded" };
}

/** Whether a model is there to ask. @param {string} page */
export async function isReady(page) {
  try {
    return (await fetch(httpAddress(page, "readyz"), { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

// Private

/** @param {string} word @param {HTMLElement} control @param {Node | null} told @param {string} [note] */
function knob(word, control, told, note) {
  const name = element("label", "knob-name", element("span", "", say(word)), ...(told ? [told] : []));
  name.setAttribute("for", control.id);
  return element("div", "knob", name, control, ...(note ? [element("p", "knob-note", note)] : []));
}

/** @param {string} page @returns {Promise<{ id: string, title: string }[]>} */
async function recordings(page) {
  try {
    return (await (await fetch(httpAddress(page, "api/recordings"))).json()).recordings;
  } catch {
    return [];
  }
}
