import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Ledger, gapsByPause } from "../../static/js/lab/ledger.js";
import { HeldOverTime, memoryOf } from "../../static/js/lab/memory.js";
import { RawWire } from "../../static/js/lab/raw_wire.js";
import { readOn } from "../../static/js/lab/raw_wires.js";
import { UsersChart } from "../../static/js/lab/users_chart.js";
import { runRecorded, toldAt } from "../../static/js/lab/users_run.js";
import { Way } from "../../static/js/lab/way.js";

test("a reader takes as many tokens as its speed has earned", () => {
  const ledger = new Ledger();
  for (let seq = 1; seq <= 10; seq += 1) ledger.come({ seq, tokens: 1 }, 0);
  assert.equal(ledger.readOn(250, 8), 2);
  assert.equal(ledger.readOn(300, 8), null);
  assert.equal(ledger.readOn(500, 8), 4);
  assert.deepEqual([ledger.made, ledger.read, ledger.unread, ledger.most], [10, 4, 6, 10]);
});

test("a reader that waits earns nothing, and one that sleeps reads nothing", () => {
  const ledger = new Ledger();
  ledger.readOn(10_000, 8);
  ledger.come({ seq: 1, tokens: 1 }, 10_000);
  assert.equal(ledger.readOn(10_050, 8), null);
  assert.equal(ledger.readOn(60_000, 0), null);
  assert.equal(ledger.readOn(60_125, 8), 1);
});

test("a fast reader reads whatever there is, also in one piece", () => {
  const ledger = new Ledger();
  ledger.come({ seq: 3, tokens: 3 }, 5);
  ledger.come({ seq: 4, tokens: 1 }, 6);
  assert.equal(ledger.readOn(6, Infinity), 4);
  assert.equal(ledger.readOn(7, Infinity), null);
});

test("pauses add up, and one that goes on counts until now", () => {
  const ledger = new Ledger();
  ledger.pause(100);
  ledger.goOn(300);
  ledger.pause(500);
  assert.equal(ledger.pausedFor(600), 300);
});

test("gaps are told apart by whether somebody was paused when they ended", () => {
  const gaps = gapsByPause([0, 10, 25, 65], [{ from_ms: 20, to_ms: 30 }, { from_ms: 60, to_ms: null }]);
  assert.deepEqual(gaps, { awake: [10], asleep: [15, 40] });
});

test("paging wastes less than a block for each sequence, reserving all that is not yet said", () => {
  const { reserved, paged } = memoryOf([{ used: 17, most: 64 }, { used: 16, most: 64 }], 16);
  assert.deepEqual([reserved.blocks, paged.blocks], [8, 3]);
  assert.equal(reserved.waste, 1 - 33 / 128);
  assert.equal(paged.waste, 1 - 33 / 48);
});

test("the waste of a run is the mean of its looks", () => {
  const held = new HeldOverTime();
  assert.equal(held.look([{ used: 16, most: 32 }, { used: 16, most: 32 }], 16), true);
  assert.equal(held.look([{ used: 32, most: 32 }], 16), false);
  assert.deepEqual([held.reserved, held.paged], [0.25, 0]);
});

test("what comes together is one arrival, and an end without text is none", () => {
  const way = new Way();
  const delta = (/** @type {number} */ seq, /** @type {string} */ text) => JSON.stringify({ type: "delta", reply: "r", seq, text, tokens: 1, t: 0 });
  way.take([delta(1, "one")], 40);
  way.take([delta(2, " two")], 45);
  way.take([JSON.stringify({ type: "done", reply: "r", seq: 2, finish_reason: "stop" })], 50);
  assert.deepEqual(way.arrivals, [{ at_ms: 40, words: 2, tokens: 2 }]);
  assert.deepEqual([way.ended, way.last_ms, way.text], [true, 50, "one two"]);
});

const step = (/** @type {number} */ t, /** @type {import("../../static/js/lab/steps.js").Step["rows"]} */ rows) =>
  ({ type: /** @type {const} */ ("step"), t, ms: 50, steps: 1, rows, kv_used: 0, kv_total: 9, waiting: 0, paused: 0 });

test("a step knows how many wrote in it and whether somebody's question was read", () => {
  const chart = new UsersChart();
  chart.hear(step(0, [[1, "prefill", 8]]));
  chart.hear(step(50, [[1, "decode", 1], [2, "prefill", 9]]));
  chart.hear(step(100, [[1, "decode", 1], [2, "decode", 1]]));
  assert.deepEqual(chart.dots.map(({ numWriting, withPrefill }) => [numWriting, withPrefill]), [[0, true], [1, true], [2, false]]);
});

test("what is read ahead behind an answer's end is neither reading nor writing, and serves nobody", () => {
  const chart = new UsersChart();
  const user = (/** @type {string} */ what, /** @type {number} */ t) => ({ type: /** @type {const} */ ("user"), number: 1, what, t, row: 7, tokens: 0 });
  chart.hear({ type: "plan", users: [{ number: 1, arrives_ms: 0, prompt_words: 3, answer_tokens: 1 }] });
  chart.hear(user("admitted", 0));
  chart.hear(step(0, [[7, "prefill", 8]]));
  chart.hear(step(50, [[7, "decode", 1]]));
  chart.hear(user("ended", 100));
  chart.hear(step(150, [[7, "ahead", 5]]));
  const { prefill, decode, ahead } = /** @type {import("../../static/js/lab/users_chart.js").Row} */ (chart.rows[0]);
  assert.deepEqual({ prefill, decode, ahead }, { prefill: [{ from_ms: 0, to_ms: 50 }], decode: [{ from_ms: 50, to_ms: 100 }], ahead: [{ from_ms: 150, to_ms: 200 }] });
  assert.deepEqual(chart.dots.map(({ t, served }) => [t, served]), [[0, 1], [50, 1]]);
});

test("the recorded runs hold every order of work, each from its plan to its totals", () => {
  const { runs } = JSON.parse(readFileSync(new URL("../../static/runs/batching.json", import.meta.url), "utf8"));
  const orders = ["single", "request", "iteration"].flatMap((order) => [`${order}-pieces`, `${order}-at_once`]);
  assert.deepEqual(Object.keys(runs).sort(), orders.sort());
  for (const items of Object.values(runs)) {
    const chart = new UsersChart();
    items.forEach((/** @type {any} */ item) => chart.hear(item));
    assert.equal(items[0].type, "plan");
    assert.equal(chart.totals?.answered, chart.rows.length);
    assert.ok(chart.dots.some(({ numWriting }) => numWriting > 0));
    assert.ok(chart.rows.every(({ first_ms, prefill, decode }) => first_ms !== null && prefill.length && decode.length));
  }
});

test("a recorded run is told at its own times, and no further once it is stopped", async () => {
  const items = [{ type: "plan", users: [] }, step(0, []), step(30, []), step(60_000, [])];
  const stop = new AbortController();
  /** @type {any[]} */
  const heard = [];
  const began_ms = performance.now();
  setTimeout(() => stop.abort(), 150);
  await runRecorded(/** @type {any} */ (items), (item) => heard.push(item), stop.signal);
  assert.deepEqual(heard, items.slice(0, 3));
  assert.ok(performance.now() - began_ms >= toldAt(/** @type {any} */ (items[2])) - 1);
});

test("a wire that breaks is a result of its own, whichever it is, and stops nobody", async () => {
  const asked = { page: "http://here/lab/protocols", reply: "r", poller: "", signal: new AbortController().signal };
  const broken = [async () => Promise.reject(new TypeError("no way there")), async () => new Response("<html>", { status: 502 })];
  for (const fetch of broken) {
    Object.assign(globalThis, { fetch });
    for (const name of ["sse", "ndjson", "plain", "polling", "whole", "grpc"]) {
      const wire = new RawWire(0);
      await readOn(name, wire, asked);
      assert.ok(["broken", "error"].includes(wire.end.kind), `${name}: ${wire.end.kind}`);
    }
  }
});
