import assert from "node:assert/strict";
import { test } from "node:test";
import { betterPlaced, placeClock } from "../../static/js/measure/clock.js";
import { EvenPace, HELD_MS, withDelay } from "../../static/js/measure/even_pace.js";
import { usualWait, waitsOf } from "../../static/js/measure/history.js";
import { judge } from "../../static/js/measure/probe_verdict.js";
import { waterfallOf } from "../../static/js/measure/waterfall.js";

test("a clock is placed in the middle of question and answer, wrong by at most half the way", () => {
  // The server's zero is the browser's 100; 12 ms up, 4 ms back, 5 ms at the server.
  const placed = placeClock({ sent_ms: 200, in_ms: 112, out_ms: 117, got_ms: 221 });
  assert.deepEqual(placed, { zero_ms: 96 + 0, error_ms: 8, way_ms: 16 });
  assert.ok(Math.abs(placed.zero_ms - 100) <= placed.error_ms);
});

test("the true zero is within the error, whatever the ways up and back", () => {
  for (let up = 0; up <= 40; up += 5) {
    for (let back = 0; back <= 40; back += 5) {
      const { zero_ms, error_ms } = placeClock({ sent_ms: 500, in_ms: 400 + up, out_ms: 403 + up, got_ms: 503 + up + back });
      assert.ok(Math.abs(zero_ms - 100) <= error_ms + 1e-9, `${up} ${back}`);
    }
  }
});

test("the quickest exchange is kept", () => {
  const [slow, quick] = [40, 2].map((got_ms) => placeClock({ sent_ms: 0, in_ms: 0, out_ms: 0, got_ms }));
  assert.equal(betterPlaced(slow ?? null, /** @type {any} */ (quick)), quick);
  assert.equal(betterPlaced(quick ?? null, /** @type {any} */ (slow)), quick);
});

const timings = { queue_ms: 20, prefill_ms: 100, first_token_ms: 120, decode_ms: 500, paused_ms: 0, total_ms: 700 };
const trace = { sent_ms: 3, clock: { zero_ms: 10, error_ms: 5, way_ms: 10 }, first: { at_ms: 172, released_t: 150 } };

test("the stages stand in a row and sum exactly to the first word, with the rest shown as such", () => {
  const whole = waterfallOf({ trace, firstPaint_ms: 190, timings });
  assert.deepEqual(whole?.stages.map(({ name, ms }) => [name, ms]), [
    ["page", 3], ["up", 7], ["queue", 20], ["prefill", 100], ["hold", 30], ["rest", 7], ["down", 5], ["paint", 18],
  ]);
  assert.equal(whole?.stages.reduce((sum, { ms }) => sum + ms, 0), 190);
  whole?.stages.reduce((end, { from_ms, ms }) => (assert.equal(from_ms, end), end + ms), 0);
  assert.deepEqual(whole?.stages.filter(({ error_ms }) => error_ms > 0).map(({ name }) => name), ["up", "rest", "down"]);
});

test("a rest may be negative, and smoothing is a stage of its own taken out of the painting", () => {
  const early = { ...trace, first: { at_ms: 163, released_t: 150 } };
  assert.equal(waterfallOf({ trace: early, firstPaint_ms: 190, timings })?.stages.find(({ name }) => name === "rest")?.ms, -2);
  const smoothed = waterfallOf({ trace, firstPaint_ms: 440, timings, smoothing: { first_ms: 250 } });
  assert.deepEqual(smoothed?.stages.slice(-2).map(({ name, ms }) => [name, ms]), [["smooth", 250], ["paint", 18]]);
  assert.equal(smoothed?.stages.reduce((sum, { ms }) => sum + ms, 0), 440);
});

test("without a stamp there is no waterfall, rather than a wrong one", () => {
  assert.equal(waterfallOf({ trace: null, firstPaint_ms: 190, timings }), null);
  assert.equal(waterfallOf({ trace: { ...trace, clock: null }, firstPaint_ms: 190, timings }), null);
  assert.equal(waterfallOf({ trace: { ...trace, first: null }, firstPaint_ms: 190, timings }), null);
  assert.equal(waterfallOf({ trace, firstPaint_ms: null, timings }), null);
  assert.equal(waterfallOf({ trace, firstPaint_ms: 190, timings: { ...timings, first_token_ms: null } }), null);
});

test("even pacing holds a burst back, never shows a piece early, and never holds it twice the limit", () => {
  const pace = new EvenPace();
  let [at, before] = [0, 0];
  for (let i = 0; i < 400; i += 1) {
    at += [0, 0, 0, 160, 5, 900][i % 6] ?? 0;
    const due = pace.due(at);
    assert.ok(due >= at && due <= at + 2 * HELD_MS, `${i}: ${due - at}`);
    assert.ok(due >= before);
    before = due;
  }
});

test("a steady stream comes out steady, later by what is held", () => {
  const pace = new EvenPace();
  const shown = Array.from({ length: 20 }, (_, i) => pace.due(i * 50));
  assert.deepEqual(shown, Array.from({ length: 20 }, (_, i) => i * 50 + HELD_MS));
});

test("what smoothing added is counted piece by piece", () => {
  const added = [250, 300, 200].reduce((sum, held) => withDelay(sum, held), /** @type {any} */ (null));
  assert.deepEqual(added, { first_ms: 250, mean_ms: 250, longest_ms: 300, pieces: 3 });
});

/** @param {(i: number) => number} at */
const ticks = (at) => Array.from({ length: 20 }, (_, i) => ({ sent_ms: (i + 1) * 100, at_ms: at(i) }));

test("ticks that come one by one stream, also with some jitter and a long way", () => {
  assert.equal(judge(ticks((i) => (i + 1) * 100 + 400 + (i % 3) * 15), 20, 100).verdict, "streams");
});

test("ticks that come together at the end were buffered, with a little spread too", () => {
  assert.equal(judge(ticks(() => 2050), 20, 100).verdict, "buffers");
  assert.equal(judge(ticks((i) => 2050 + i * 10), 20, 100).verdict, "buffers");
});

test("ticks in clumps are neither, and a broken stream is said first", () => {
  const clumped = judge(ticks((i) => Math.ceil((i + 1) / 4) * 400 + 5), 20, 100);
  assert.deepEqual([clumped.verdict, clumped.groups], ["clumps", 5]);
  assert.equal(judge(ticks((i) => (i + 1) * 100).slice(0, 7), 20, 100).verdict, "cut");
  assert.equal(judge([], 20, 100).verdict, "cut");
});

test("a history has the replies whose clock was whole, each in its place", () => {
  const flags = { resumed: false };
  const replies = /** @type {any[]} */ ([
    { mode: "streamed", state: "done", firstPaint_ms: 100, lastPaint_ms: 900, flags },
    { mode: "whole", state: "done", firstPaint_ms: 800, lastPaint_ms: 800, flags },
    { mode: "streamed", state: "failed", firstPaint_ms: 50, lastPaint_ms: 60, flags },
    { mode: "streamed", state: "done", firstPaint_ms: 300, lastPaint_ms: 900, flags: { resumed: true } },
    { mode: "streamed", state: "stopped", firstPaint_ms: 200, lastPaint_ms: null, flags },
    { mode: "streamed", state: "reading", firstPaint_ms: null, lastPaint_ms: null, flags },
  ]);
  const waits = waitsOf(replies);
  assert.deepEqual(waits.map(({ place, mode, last_ms }) => [place, mode, last_ms]), [[1, "streamed", 900], [2, "whole", 800], [5, "streamed", 200]]);
  assert.deepEqual(usualWait(waits, "streamed"), { count: 2, median_ms: 150 });
  assert.deepEqual(usualWait([], "whole"), { count: 0, median_ms: null });
});
