/**
 * The experiment that takes the time to the first token apart: five real questions, a bar for each, in
 * line and in prefill, and how much of the question was remembered.
 */

import { keepBusy, takeApart } from "../lab/apart.js";
import { recordedRun } from "../lab/recorded_run.js";
import { spellTime } from "../measure/spelling.js";
import { randomId } from "../stream/identity.js";
import { say } from "../words.js";
import { colourKey } from "./lab_figures.js";
import { isReady, runSourceKnob, sliderKnob } from "./lab_knobs.js";
import { LabStage } from "./lab_stage.js";
import { element, svg } from "./parts.js";

/**
 * @typedef {import("../lab/apart.js").Apart} Apart
 * @typedef {import("../events.js").Message} Message
 */

const FILLER_WORDS = 20;
const WIDTH = 900;

/** @param {HTMLElement} page */
export async function mount(page) {
  const stage = new LabStage(page, 3);
  const length = sliderKnob({ word: "promptLength", min: 60, max: 600, step: 60, value: 240, spell: (count) => say("countWords", { count }) });
  const ahead = sliderKnob({ word: "ahead", min: 1, max: 20, step: 1, value: 6, spell: (count) => say("countPeople", { count }) });
  const live = [length.element, ahead.element];
  const source = runSourceKnob(await isReady(location.href), live);
  stage.knobs.append(source.element, ...live);
  stage.onRun(async (signal) => {
    /** @type {Apart[]} */
    const parts = [];
    const tell = (/** @type {Apart} */ part) => {
      parts.push(part);
      draw(stage.picture, parts);
    };
    if (source.isRecorded()) (await recordedRun(location.href, "apart")).parts.forEach(tell);
    else await askAll(length.value(), ahead.value(), signal, tell);
    const [short, long, again, , queued] = parts;
    if (!short || !long || !again || !queued) throw new Error("?");
    return say(again.cached ? "verdict" : "verdictFresh", {
      short: spellTime(short.first_ms), long: spellTime(long.first_ms), again: spellTime(again.first_ms),
      cached: again.cached, prompt: again.prompt, queued: spellTime(queued.first_ms),
    });
  });
}

/** @param {number} words @param {number} others @param {AbortSignal} signal @param {(part: Apart) => void} tell */
async function askAll(words, others, signal, tell) {
  // Nothing of this run may be remembered from another.
  const salt = randomId().slice(0, 8);
  const ask = (/** @type {string} */ name, /** @type {Message[]} */ messages) => takeApart(location.href, name, messages, signal);
  const long = [user(`${salt} ${`${say("filler")} `.repeat(Math.round(words / FILLER_WORDS))}`)];
  tell(await ask("short", [user(`${salt} Why?`)]));
  const first = await ask("long", long);
  tell(first);
  tell(await ask("again", long));
  tell(await ask("second", [...long, { role: "assistant", content: first.text }, user(say("secondQuestion"))]));
  const busy = new AbortController();
  const stop = () => busy.abort();
  signal.addEventListener("abort", stop, { once: true });
  try {
    await keepBusy(location.href, Array.from({ length: others }, (_, i) => [user(`${salt} ${i} ${`${say("filler")} `.repeat(3)}`)]), busy.signal);
    tell(await ask("queued", [user(`${salt} And why not?`)]));
  } finally {
    stop();
  }
}

/** @param {HTMLElement} picture @param {Apart[]} parts */
function draw(picture, parts) {
  const most_ms = Math.max(...parts.map(({ queue_ms, prefill_ms }) => queue_ms + prefill_ms));
  const x = (/** @type {number} */ ms) => (ms / most_ms) * (WIDTH - 2);
  // An engine that remembers nothing, or does not tell, says 0 of everything: that is no measurement.
  const tokens = parts.some(({ cached }) => cached > 0) ? "tokensRead" : "tokensAsked";
  picture.replaceChildren(
    element("h4", "", say("key")),
    colourKey("apart", [["keyQueue", { class: "queue" }], ["keyPrefill", { class: "prefill" }]]),
    ...parts.map(({ name, queue_ms, prefill_ms, prompt, cached }) => {
      const label = say("barLabel", { name: say(name), queue: spellTime(queue_ms), prefill: spellTime(prefill_ms) });
      const row = element("div", "apart-row",
        element("p", "", element("b", "", say(name)), ` · ${spellTime(queue_ms + prefill_ms)}${prompt ? ` · ${say(tokens, { prompt, cached })}` : ""}`),
        svg("svg", { class: "apart", viewBox: `0 0 ${WIDTH} 26`, preserveAspectRatio: "none", role: "img", "aria-label": label },
          svg("rect", { class: "queue", x: 1, y: 1, width: Math.max(0.5, x(queue_ms)), height: 24 }),
          svg("rect", { class: "prefill", x: 1 + x(queue_ms), y: 1, width: Math.max(1, x(prefill_ms)), height: 24 })));
      row.dataset.part = name;
      return row;
    }),
  );
}

/** @param {string} content @returns {Message} */
const user = (content) => ({ role: "user", content });
