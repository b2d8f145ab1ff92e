/**
 * The lesson: find the places in the text, mount what belongs there, measure when asked to. Nothing is
 * decided here.
 */

import { mountDepths } from "../components/lesson_depth.js";
import { mountExercise } from "../components/lesson_exercise.js";
import { mountApart, mountBatch, mountCredit } from "../components/lesson_models.js";
import { mountBuffer, mountRace, mountReading } from "../components/lesson_strips.js";
import { element, part, setText } from "../components/parts.js";
import { mountLanguage } from "../components/language.js";
import { mountTheme } from "../components/theme.js";
import { ask, longPrompt, middleOf } from "../learn/asking.js";
import { recordedLesson } from "../learn/recorded.js";
import { spellTime } from "../measure/spelling.js";
import { sayCaught } from "../stream/failure.js";
import { randomId } from "../stream/identity.js";
import { fillWords, say, speak } from "../words.js";

const RUNS = 5;
const page = document.body;
document.documentElement.lang = page.dataset.language ?? "en";
await speak(["common", "failures", "learn"]);
fillWords(document);
mountTheme(part(page, "theme", HTMLSelectElement));
mountLanguage(part(page, "language", HTMLSelectElement));
const lesson = /** @type {HTMLElement} */ (page.querySelector(".lesson"));
const state = part(page, "measure-state", HTMLElement);
const answer = part(page, "measure-answer", HTMLElement);
const button = part(page, "measure", HTMLButtonElement);
mountDepths(lesson, part(page, "depths", HTMLFieldSetElement));
listContents();
mountExercises();
mountBatch(figure("batch"));
mountCredit(figure("credit"));
const recording = await recordedLesson();
/** @type {(waits: import("../components/lesson_models.js").Wait[]) => void} */
let showWaits = () => {};
if (recording) {
  mountReading(figure("reading"), recording.arrivals);
  mountRace(figure("race"), recording.arrivals);
  mountBuffer(figure("buffer"), recording.arrivals);
  showWaits = mountApart(figure("apart"), recording.waits);
  fillNumbers(recording, ` (${say("ofRecording")})`);
  setText(state, say("measuredRecording", { model: recording.model, cpu: recording.cpu }));
} else {
  fillNumbers({ first_ms: null, gap_ms: null }, "");
  setText(state, say("measuredNone"));
}
button.addEventListener("click", measure);
page.dataset.state = "ready";

async function measure() {
  button.disabled = true;
  // What is to be seen has to be shown: the clock stops when the first word is on the screen.
  const asking = (/** @type {string} */ prompt, /** @type {number} */ max_tokens) =>
    ask(location.href, prompt, max_tokens, (text) => setText(answer, text));
  try {
    const runs = [];
    for (let i = 0; i < RUNS; i += 1) {
      setText(state, say("measuring", { done: i, of: RUNS + 3 }));
      runs.push(await asking(`Why is the sky blue? (${i})`, 24));
    }
    const waits = [];
    const salt = randomId().slice(0, 8);
    for (const [name, prompt] of [["apartShort", `${salt} Why?`], ["apartLong", longPrompt(24, salt)], ["apartAgain", longPrompt(24, salt)]]) {
      setText(state, say("measuring", { done: RUNS + waits.length, of: RUNS + 3 }));
      const { queue_ms, prefill_ms, first_ms, cached } = await asking(/** @type {string} */ (prompt), 8);
      waits.push({ label: say(/** @type {string} */ (name)), queue_ms, prefill_ms, cached, rest_ms: Math.max(0, first_ms - queue_ms - prefill_ms) });
    }
    fillNumbers(middleOf(runs), "");
    showWaits(waits);
    setText(state, say("measuredHere", { count: RUNS, time: new Date().toLocaleTimeString(document.documentElement.lang) }));
  } catch (error) {
    setText(state, say("measureFailed", { why: sayCaught(error) }));
  } finally {
    setText(answer, "");
    button.disabled = false;
  }
}

/** @param {{ first_ms: number | null, gap_ms: number | null }} numbers @param {string} suffix */
function fillNumbers(numbers, suffix) {
  for (const place of lesson.querySelectorAll("[data-measured]")) {
    const name = /** @type {HTMLElement} */ (place).dataset.measured;
    if (name === "n") setText(place, say("times", { count: RUNS }));
    else {
      const value = name === "first_ms" ? numbers.first_ms : numbers.gap_ms;
      setText(place, value === null ? say("notMeasured") : spellTime(value) + suffix);
    }
  }
}

function listContents() {
  const links = Array.from(lesson.querySelectorAll("section[id] > h2"), (heading) => {
    const link = element("a", "", heading.textContent ?? "");
    link.setAttribute("href", `#${heading.parentElement?.id}`);
    return element("li", "", link);
  });
  part(page, "contents", HTMLElement).append(element("ol", "", ...links));
}

function mountExercises() {
  const forms = Array.from(lesson.querySelectorAll("form.exercise"), (form) => /** @type {HTMLFormElement} */ (form));
  const solved = new Set();
  const score = part(page, "score", HTMLElement);
  for (const form of forms) {
    mountExercise(form, (id) => {
      solved.add(id);
      setText(score, say("score", { right: solved.size, count: forms.length }));
    });
  }
}

/** @param {string} name */
function figure(name) {
  return /** @type {HTMLElement} */ (lesson.querySelector(`[data-demo="${name}"]`));
}
