import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { watchSteps } from "../../static/js/lab/steps.js";
import { ask, middleOf } from "../../static/js/learn/asking.js";
import { EXERCISES, isRight } from "../../static/js/learn/exercises.js";
import { atOnce, byIteration, byRequest, credit, EXAMPLE, readAlong, throughBuffer } from "../../static/js/learn/models.js";
import { byWord } from "../../static/js/learn/recorded.js";
import words from "../../static/js/words/en/learn.js";

/** @param {number} at_ms @param {string} text */
const arrival = (at_ms, text) => ({ at_ms, text, words: 1, tokens: 1 });

test("the two schedules wait as those of docs/code/batching.py do", () => {
  const waits = (/** @type {number[][]} */ made) => made.map((steps, i) => (steps[0] ?? 0) - (EXAMPLE[i]?.arrives ?? 0));
  assert.deepEqual(waits(byRequest(EXAMPLE, 2)), [1, 40, 39, 43]);
  assert.deepEqual(waits(byIteration(EXAMPLE, 2)), [1, 1, 5, 9]);
});

test("every schedule makes every token once, and no step has more than the slots", () => {
  for (const schedule of [byRequest, byIteration]) {
    for (let slots = 1; slots <= 4; slots += 1) {
      const made = schedule(EXAMPLE, slots);
      assert.deepEqual(made.map((steps) => steps.length), EXAMPLE.map(({ length }) => length));
      for (const step of new Set(made.flat())) assert.ok(made.flat().filter((other) => other === step).length <= slots);
    }
  }
});

test("unread tokens never pass the high mark, and a quick reader never pauses the model", () => {
  for (let readPerSecond = 1; readPerSecond <= 24; readPerSecond += 1) {
    const run = credit({ tokens: 300, high: 64, low: 16, readPerSecond });
    assert.ok(run.most <= 64);
    assert.equal(run.pauses > 0, readPerSecond < 16);
  }
});

test("a buffer loses nothing, and hands on only when it is full or all is over", () => {
  const arrivals = ["one ", "two ", "three ", "🙂"].map((text, i) => arrival(i * 100, text));
  assert.deepEqual(throughBuffer(arrivals, 8).map(({ at_ms, text }) => [at_ms, text]), [[100, "one two "], [300, "three 🙂"]]);
  assert.deepEqual(atOnce(arrivals).map(({ at_ms, tokens }) => [at_ms, tokens]), [[300, 4]]);
  assert.deepEqual(throughBuffer([], 8), []);
});

test("who reads slower than the model writes waits no more, who reads faster does", () => {
  const arrivals = Array.from({ length: 10 }, (_, i) => arrival(1000 + i * 100, "x "));
  assert.equal(readAlong(arrivals, 300).waits_ms, 0);
  assert.ok(readAlong(arrivals, 1200).waits_ms > 0);
  assert.equal(Math.round(readAlong(arrivals, 300).done_ms), 3000);
});

test("tokens become words as the server's word pace makes them, and the joined text is the same", () => {
  const deltas = ["The", " sc", "ribe", " writes", "."].map((text, i) => ({ type: "delta", t: i * 10, text, tokens: 1 }));
  const words = byWord([...deltas, { type: "done", t: 99, text: "", tokens: 0 }]);
  assert.deepEqual(words.map(({ text, at_ms }) => [text, at_ms]), [["The", 10], [" scribe", 30], [" writes.", 40]]);
});

test("answers are right within their tolerance, a comma is a point, and nonsense is no answer", () => {
  const speed = /** @type {import("../../static/js/learn/exercises.js").Exercise} */ (EXERCISES["tokens-per-second"]);
  assert.equal(isRight(speed, " 5,2 "), true);
  assert.equal(isRight(speed, "5.3"), true);
  assert.equal(isRight(speed, "6"), false);
  for (const nothing of ["", "many", "NaN", "Infinity"]) assert.equal(isRight(speed, nothing), null);
});

test("every exercise of the text is there and has its words", () => {
  const used = [...readFileSync(new URL("../../templates/lesson/en.html", import.meta.url), "utf8").matchAll(/exercise\("([\w-]+)", "(\w+)"\)/g)];
  assert.deepEqual(used.map(([, id]) => id).sort(), Object.keys(EXERCISES).sort());
  assert.ok(used.length >= 8);
  for (const [, id, kind] of used) {
    const exercise = /** @type {import("../../static/js/learn/exercises.js").Exercise} */ (EXERCISES[id ?? ""]);
    assert.equal(exercise.kind, kind);
    const needed = ["q", "why", ...(exercise.kind === "choice" ? Array.from({ length: exercise.choices }, (_, i) => String(i)) : ["unit"])];
    for (const part of needed) assert.ok(words[`${id}.${part}`], `${id}.${part}`);
  }
});

const page = "http://here/learn";
/** What the page is to the clock: shown, and painted when the test says so. @type {(() => void)[]} */
const frames = [];
/** What the server answers next. @type {Response} */
let answer;

test("a question of the lesson is read to its end, and its first word is stamped when it is on the screen", async () => {
  withPage();
  const delta = (/** @type {number} */ seq, /** @type {string} */ text) => ({ type: "delta", reply: "r", seq, text, tokens: 1, t: seq });
  const done = { type: "done", reply: "r", seq: 2, finish_reason: "length", t: 9, usage: { prompt_tokens: 9, cached_tokens: 4, completion_tokens: 2 }, timings: { queue_ms: 3, prefill_ms: 5 } };
  answer = new Response([delta(1, "One"), delta(2, " two"), done].map((event) => `${JSON.stringify(event)}\n`).join(""));
  /** @type {string[]} */
  const seen = [];
  const began_ms = performance.now();
  const asked = ask(page, "Why?", 2, (text) => seen.push(text));
  while (frames.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  const painted_ms = performance.now() - began_ms + 40;
  setTimeout(() => frames[0]?.(), 45);
  const { first_ms, gap_ms, cached, queue_ms, prefill_ms } = await asked;
  assert.deepEqual(seen, ["One", "One two"]);
  assert.deepEqual([cached, queue_ms, prefill_ms], [4, 3, 5]);
  assert.ok(first_ms >= painted_ms, `${first_ms} is when it came, not when it was seen`);
  assert.ok(gap_ms !== null && gap_ms < 40, "gaps are between arrivals");
});

test("what the server refuses is said in its own words, by the lesson and by the lab", async () => {
  withPage();
  const refused = () => Response.json({ type: "error", code: "overloaded", message: "The line is full.", retryable: true }, { status: 503 });
  answer = refused();
  await assert.rejects(ask(page, "Why?", 2, () => {}), /The line is full\./);
  answer = refused();
  await assert.rejects(watchSteps(page, () => {}, new AbortController().signal), /The line is full\./);
});

test("the middle one of several is taken number by number", () => {
  const run = (/** @type {number} */ first_ms, /** @type {number | null} */ gap_ms) => ({ first_ms, gap_ms, cached: 0, queue_ms: 0, prefill_ms: 0 });
  assert.deepEqual(middleOf([run(9, 3), run(1, null), run(5, 1)]), { first_ms: 5, gap_ms: 2 });
});

function withPage() {
  frames.length = 0;
  Object.assign(globalThis, {
    document: Object.assign(new EventTarget(), { hidden: false }),
    requestAnimationFrame: (/** @type {() => void} */ frame) => frames.push(frame),
    fetch: async () => answer,
  });
}
