import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { csvOf } from "../../static/js/race/csv.js";
import { readFragment, startBody, usualExperiment, within, writeFragment } from "../../static/js/race/experiment.js";
import { actionOf } from "../../static/js/race/keys.js";
import { closeSilently, fail, hear, lastWordOf, newLane, see, textOf } from "../../static/js/race/lane.js";
import { LINKS, PRESETS, readLane, writeLane } from "../../static/js/race/lane_settings.js";
import { momentOf } from "../../static/js/race/moment.js";
import { PaintClock } from "../../static/js/race/paint_clock.js";
import { move, Playhead, stepFrom } from "../../static/js/race/playhead.js";
import { endOfRace, newRace, runRace } from "../../static/js/race/race.js";
import { recordingOf, tokenEvents } from "../../static/js/race/recording.js";
import { readRecording } from "../../static/js/race/recording_file.js";
import { sha256 } from "../../static/js/race/sha256.js";
import { EvenPace, HELD_MS } from "../../static/js/measure/even_pace.js";
import { axisOf, stripsShape } from "../../static/js/race/strips_shape.js";
import { ratioOf, verdictOn } from "../../static/js/race/verdict.js";
import { SseParser } from "../../static/js/stream/sse_parser.js";
import { bringByPolling } from "../../static/js/stream/polling_wire.js";
import { speak } from "../../static/js/words.js";

await speak(["common", "race", "race_numbers"], "en");

/** @typedef {import("../../static/js/race/lane_settings.js").LaneSettings} LaneSettings */

/** @param {string} text @returns {LaneSettings} */
const settings = (text) => /** @type {LaneSettings} */ (readLane(text));

/** @param {number} seq @param {string} text @param {number} [t] @returns {any} */
const delta = (seq, text, t = seq * 10) => ({ type: "delta", reply: "r1", seq, text, tokens: 1, t });
/** @param {number} tokens @returns {any} */
const done = (tokens) => ({
  type: "done", reply: "r1", seq: tokens, finish_reason: "stop", t: tokens * 10 + 5,
  usage: { prompt_tokens: 3, completion_tokens: tokens, total_tokens: tokens + 3, cached_tokens: 0 },
  timings: { queue_ms: 1, prefill_ms: 9, first_token_ms: 10, decode_ms: 100, paused_ms: 0, total_ms: tokens * 10 + 5 },
});

/** A lane that read `words` one each `every_ms`. @param {string} kind @param {string[]} words @param {number} first_ms @param {number} every_ms */
function laneOf(kind, words, first_ms, every_ms) {
  const lane = newLane(settings(kind));
  hear(lane, { type: "started", reply: "r1", model: "toy", prompt_tokens: 3, cached_tokens: 0, t: 1 }, 2);
  words.forEach((word, i) => hear(lane, delta(i + 1, word), first_ms + i * every_ms));
  hear(lane, done(words.length), first_ms + (words.length - 1) * every_ms + 3);
  return lane;
}

const WORDS = ["One ", "word ", "after ", "another."];
function usualRace() {
  const race = newRace(usualExperiment("Why?"), "2026-03-01T10:00:00.000Z");
  const streamed = laneOf("token", WORDS, 100, 200);
  const whole = newLane(settings("whole"));
  hear(whole, /** @type {any} */ ({ ...delta(4, WORDS.join("")), tokens: 4 }), 705);
  hear(whole, done(4), 706);
  race.lanes = [streamed, whole];
  return race;
}

test("a lane at a moment shows what had arrived, and its clock stands from the first word on", () => {
  const lane = laneOf("token", WORDS, 100, 200);
  assert.deepEqual(see(lane, 50), { arrivals: 0, first: false, ended: false, clock_ms: 50 });
  assert.deepEqual(see(lane, 100), { arrivals: 1, first: true, ended: false, clock_ms: 100 });
  assert.deepEqual(see(lane, 350), { arrivals: 2, first: true, ended: false, clock_ms: 100 });
  assert.deepEqual(see(lane, 9999), { arrivals: 4, first: true, ended: true, clock_ms: 100 });
  lane.firstPaint_ms = 112;
  assert.equal(see(lane, 350).clock_ms, 112);
});

test("what is seen of a lane only grows with time, for every moment", () => {
  const lane = laneOf("token", WORDS, 100, 200);
  let before = 0;
  for (let at = 0; at < 1000; at += 7) {
    const { arrivals } = see(lane, at);
    assert.ok(arrivals >= before);
    assert.equal(textOf(lane, arrivals), WORDS.slice(0, arrivals).join(""));
    before = arrivals;
  }
});

test("a delta that comes twice, and whatever comes after the end, changes nothing", () => {
  const lane = laneOf("token", WORDS, 100, 200);
  const text = textOf(lane);
  hear(lane, delta(9, "late"), 2000);
  assert.equal(textOf(lane), text);
  const open = newLane(settings("token"));
  hear(open, delta(1, "a"), 1);
  hear(open, delta(1, "a"), 2);
  assert.equal(textOf(open), "a");
});

test("a lane that broke has ended, and a silent end counts as an end", () => {
  const lane = newLane(settings("token"));
  hear(lane, delta(1, "Half"), 10);
  fail(lane, { code: "connection_lost", message: "gone" }, 40);
  assert.equal(see(lane, 41).ended, true);
  fail(lane, { code: "other", message: "later" }, 90);
  assert.equal(lane.error?.code, "connection_lost");
  const plain = newLane(settings("token.plain"));
  hear(plain, delta(1, "All"), 10);
  closeSilently(plain, 12);
  assert.equal(plain.ended_ms, 12);
  assert.equal(lastWordOf(plain), 10);
});

test("a live and a recorded race give the same picture for every moment", () => {
  const race = usualRace();
  const copy = readRecording(JSON.stringify(recordingOf(race, /** @type {any} */ (tokenEvents(race)), null)));
  for (let at = 0; at <= 800; at += 25) assert.deepEqual(momentOf(copy, at), momentOf(race, at));
  assert.equal(copy.source, "replay");
  assert.equal(endOfRace(copy), endOfRace(race));
  assert.deepEqual(verdictOn(copy.lanes), verdictOn(race.lanes));
});

test("the verdict says same work, same time, and how many times sooner", () => {
  const { lanes } = usualRace();
  assert.equal(ratioOf(lanes), 7.05);
  assert.deepEqual(verdictOn(lanes), { same: "Same 4 tokens, same 705 ms.", sooner: "First word 7.0 times sooner.", notes: [] });
});

test("the verdict is honest when there is no such difference, no end, another text, or a hidden tab", () => {
  const same = [laneOf("token", WORDS, 100, 200), laneOf("token.sse", WORDS, 104, 200)];
  assert.equal(verdictOn(same).sooner, "First word at the same moment.");
  const broken = [laneOf("token", WORDS, 100, 200), newLane(settings("whole"))];
  fail(/** @type {any} */ (broken[1]), { code: "connection_lost", message: "gone" }, 300);
  assert.match(verdictOn(broken).same, /No verdict.*All at once/);
  const different = [laneOf("token", WORDS, 100, 200), laneOf("whole", ["Other"], 700, 1)];
  assert.match(verdictOn(different).same, /texts differ/);
  const slower = [laneOf("token", WORDS, 100, 200), laneOf("token.socket.mobile", WORDS, 400, 500)];
  assert.match(verdictOn(slower).same, /last word after 700 ms, 1.9 s/);
  const hidden = usualRace().lanes;
  /** @type {any} */ (hidden[0]).hidden = true;
  assert.equal(verdictOn(hidden).notes.length, 1);
  const one = [laneOf("token", ["Yes"], 100, 0), laneOf("whole", ["Yes"], 101, 0)];
  assert.match(verdictOn(one).sooner, /nothing to stream/);
});

test("the playhead never passes the edge, follows a live one, and says when it is behind", () => {
  const head = new Playhead();
  head.restart(true);
  head.advance(16, 500);
  assert.equal(head.at_ms, 500);
  assert.equal(head.isBehind(520), false);
  head.speed = 0.5;
  head.advance(100, 600);
  assert.equal(head.at_ms, 550);
  assert.equal(head.isBehind(600), true);
  head.speed = 4;
  head.advance(100, 700);
  assert.equal(head.at_ms, 700);
  head.seek(-5, 700);
  assert.equal(head.at_ms, 0);
  assert.equal(head.isBehind(700), true);
});

test("steps go from arrival to arrival in any lane, both ways, and stop time", () => {
  const { lanes } = usualRace();
  assert.equal(stepFrom(lanes, 0, 1), 100);
  assert.equal(stepFrom(lanes, 100, 1), 300);
  assert.equal(stepFrom(lanes, 700, 1), 705);
  assert.equal(stepFrom(lanes, 705, 1), null);
  assert.equal(stepFrom(lanes, 300, -1), 100);
  const head = new Playhead();
  head.restart();
  assert.equal(move(head, "on", lanes, 706, false), true);
  assert.deepEqual([head.at_ms, head.playing], [100, false]);
  move(head, "pause", lanes, 706, true);
  assert.deepEqual([head.at_ms, head.playing], [0, true]);
  assert.equal(move(head, { speed: 2 }, lanes, 706, false), false);
  assert.equal(move(head, { speed: 0.1 }, lanes, 706, false), true);
});

test("paints are clocked from the click, and not any more once somebody has stopped time", () => {
  /** @type {((stamp_ms: number) => void)[]} */
  const waiting = [];
  const clock = new PaintClock((tell) => waiting.push(tell), () => {});
  const lane = newLane(settings("token"));
  clock.written(lane, 1);
  assert.equal(waiting.length, 0);
  clock.begin(1000);
  hear(lane, delta(1, "a"), 90);
  clock.written(lane, 1);
  waiting.shift()?.(1100);
  assert.deepEqual([lane.firstPaint_ms, lane.lastPaint_ms, clock.pending], [100, 100, 0]);
  hear(lane, delta(2, "b"), 190);
  clock.stop([lane]);
  clock.written(lane, 2);
  assert.deepEqual([lane.firstPaint_ms, lane.lastPaint_ms, lane.late, waiting.length], [100, null, true, 0]);
});

test("smoothing never shows before arrival, keeps the order, and adds no more than it says", () => {
  let seed = 7;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  for (let run = 0; run < 50; run += 1) {
    const smoother = new EvenPace();
    let at = 0;
    let before = 0;
    for (let i = 0; i < 100; i += 1) {
      at += random() < 0.3 ? 0 : random() * 300;
      const shown = smoother.due(at);
      assert.ok(shown >= at && shown >= before && shown <= at + 2 * HELD_MS);
      if (i === 0) assert.equal(shown, at + HELD_MS);
      before = shown;
    }
  }
});

test("an experiment comes back from its link as it was, and a broken link gives the usual", () => {
  const usual = usualExperiment("usual");
  const experiment = {
    ...usual, prompt: "Why & how? #1\n~ यह", maxTokens: 64, temperature: 0.75, seed: 3, tokensPerSecond: 5.5, separate: true,
    recording: "", wordsPerMinute: 180, lanes: PRESETS.networks ?? [],
  };
  assert.deepEqual(readFragment(`#${writeFragment(experiment)}`, usual), experiment);
  assert.equal(readFragment("#something-else", usual), null);
  const odd = readFragment("#v=1&max=9999&temp=x&seed=-1&lanes=token.socket~evil.wire~__proto__&recording=../../etc", usual);
  assert.deepEqual(odd, usual);
  assert.equal(within(1.5, "seed"), null);
  assert.equal(readFragment(`#v=1&prompt=${"a".repeat(3999)}${encodeURIComponent("🫖")}`, usual)?.prompt, "a".repeat(3999));
});

test("a title that is cut short ends with no half of a character", () => {
  const race = usualRace();
  race.experiment = { ...race.experiment, prompt: `${"a".repeat(119)}🫖 and more` };
  const { title } = recordingOf(race, /** @type {any} */ (tokenEvents(race)), null);
  assert.equal(title, "a".repeat(119));
});

test("a recording of a recording does not say that this server's model and machine made it", () => {
  const race = usualRace();
  const about = { version: "1", model: { name: "here", device: "cpu" }, hardware: { cpu: "mine", cores: 2, memory_gb: 8, system: "x" } };
  const events = /** @type {any} */ (tokenEvents(race));
  assert.equal(/** @type {any} */ (recordingOf(race, events, about)).model.name, "here");
  race.experiment = { ...race.experiment, recording: "sky" };
  const { model, hardware } = /** @type {any} */ (recordingOf(race, events, about));
  assert.notEqual(model.name, "here");
  assert.equal(hardware.cpu, "");
});

test("every lane of a race asks for the same work and says only for itself how it reads", () => {
  const experiment = { ...usualExperiment("Why?"), lanes: PRESETS.networks ?? [] };
  const bodies = experiment.lanes.map((lane) => startBody(experiment, lane, "same"));
  const work = bodies.map(({ pace: _p, link: _l, ...rest }) => rest);
  assert.ok(work.every((body) => JSON.stringify(body) === JSON.stringify(work[0])));
  assert.equal(bodies[0]?.await_readers, 3);
  assert.deepEqual(bodies[2]?.link, LINKS.tunnel);
  assert.equal(startBody({ ...experiment, separate: true }, /** @type {any} */ (experiment.lanes[0]), "x").await_readers, undefined);
  assert.deepEqual(Object.keys(startBody({ ...experiment, recording: "sky" }, /** @type {any} */ (experiment.lanes[0]), "x")).sort(), ["await_readers", "id", "pace", "recording", "slow_policy"]);
});

test("lane settings survive writing and reading, and unknown ones are none", () => {
  for (const lane of Object.values(PRESETS).flat()) assert.deepEqual(readLane(writeLane(lane)), lane);
  for (const text of ["", "token.fax", "token.socket.moon", "constructor", "token.socket.__proto__"]) assert.equal(readLane(text), null);
});

test("one lane's broken connection ends that lane alone", async () => {
  const experiment = { ...usualExperiment("Why?"), lanes: [settings("token"), settings("token.sse")] };
  const race = newRace(experiment, "2026-03-01T10:00:00.000Z");
  /** @type {Record<string, any>} */
  const lanes = {};
  let now = 0;
  const ports = {
    /** @param {string} wire */
    bring: (wire) => (/** @type {any} */ body, /** @type {any} */ tell) => new Promise((resolve, reject) => { lanes[wire] = { body, tell, resolve, reject }; }),
    newId: () => "id", elapsed_ms: () => now,
  };
  const control = runRace(race, /** @type {any} */ (ports), () => {});
  assert.deepEqual([lanes.socket.body.id, lanes.sse.body.id], ["id", "id"]);
  now = 10;
  for (const lane of [lanes.socket, lanes.sse]) lane.tell({ type: "queued", reply: "r1", position: 0, t: 0 });
  assert.deepEqual(control.stop(), ["r1"]);
  lanes.socket.tell(delta(1, "Half"));
  now = 20;
  lanes.socket.reject(new Error("cable"));
  await new Promise((go) => setImmediate(go));
  assert.equal(race.lanes[0]?.error?.message, "cable");
  assert.equal(endOfRace(race), null);
  lanes.sse.tell(delta(1, "Whole"));
  lanes.sse.tell(done(1));
  lanes.sse.resolve();
  await new Promise((go) => setImmediate(go));
  assert.equal(race.lanes[1]?.error, null);
  assert.equal(endOfRace(race), 20);
});

test("a lane of plain text can be stopped before its first word, and does not pass for whole then", async () => {
  const race = newRace({ ...usualExperiment("Why?"), lanes: [settings("whole.plain"), settings("token.plain")] }, "2026-03-01T10:00:00.000Z");
  /** @type {(() => void)[]} */
  const close = [];
  const bring = () => (/** @type {any} */ _body, /** @type {any} */ _tell, /** @type {any} */ _signal, /** @type {any} */ named) => {
    named("r1");
    return new Promise((resolve) => { close.push(() => resolve(undefined)); });
  };
  const control = runRace(race, /** @type {any} */ ({ bring, newId: () => "id", elapsed_ms: () => 5 }), () => {});
  assert.deepEqual(control.stop(), ["r1"]);
  for (const end of close) end();
  await new Promise((go) => setImmediate(go));
  assert.match(verdictOn(race.lanes).same, /stopped/);
});

test("a recording without lanes gives two: as it was made, and all at once", () => {
  const race = usualRace();
  const file = { ...recordingOf(race, /** @type {any} */ (tokenEvents(race)), null), lanes: [] };
  const read = readRecording(JSON.stringify(file));
  assert.deepEqual(read.lanes.map((lane) => textOf(lane)), [WORDS.join(""), WORDS.join("")]);
  assert.deepEqual(read.lanes.map(({ arrivals }) => arrivals.map(({ at_ms }) => at_ms)), [[10, 20, 30, 40], [45]]);
  assert.equal(read.serverClock, true);
});

test("our hash is SHA-256 for texts of every length around its blocks", () => {
  for (let size = 0; size < 140; size += 1) {
    const text = "aé😀".repeat(60).slice(0, size).replace(/[\ud800-\udbff]$/, "");
    assert.equal(sha256(text), createHash("sha256").update(text).digest("hex"), `at ${size}`);
  }
});

test("CSV has one line a number and lane, and no cell that is a formula", () => {
  const race = usualRace();
  race.experiment = { ...race.experiment, prompt: '=cmd|"x",\n@y' };
  const csv = csvOf(race);
  assert.match(csv, /"'=cmd\|""x"",\n@y"/);
  assert.match(csv, /,1,Streamed,token by token · WebSocket,ttft,ms,100\r\n/);
  assert.ok(csv.split("\r\n").length > 40);
});

test("all strips stand on one axis, inside their room", () => {
  const race = usualRace();
  for (const width of [300, 700, 1400]) {
    const shape = stripsShape(momentOf(race, 800).strips, { width, text: 14, bar: 28, axis_ms: axisOf(706), moment_ms: null, wordsPerMinute: 238 });
    assert.equal(shape.rows.length, 2);
    const [one, two] = /** @type {[any, any]} */ (shape.rows);
    assert.ok(one.bottom < two.top && two.bottom < shape.height);
    assert.ok(Math.abs(one.end - two.end) < 8, "both end at nearly the same time");
    for (const row of shape.rows) assert.ok(row.wait <= width && Number(row.end) + 6 <= width && Number(row.reading?.to) <= width);
  }
  assert.ok(axisOf(5_000_000) >= 5_000_000);
});

test("keys belong to fields and buttons first, and letters can be turned off", () => {
  const free = { inField: false, onButton: false, lettersOn: true };
  /** @param {string} key @param {object} [more] */
  const press = (key, more = {}) => actionOf({ key, ctrlKey: false, metaKey: false, altKey: false, ...more }, free);
  assert.equal(press(" "), "start");
  assert.equal(press("PageDown"), "start");
  assert.equal(press("P"), "pause");
  assert.deepEqual(press("1"), { speed: 0.1 });
  assert.deepEqual(press("9"), { speed: 4 });
  assert.equal(press("p", { ctrlKey: true }), null);
  assert.equal(press("constructor"), null);
  const key = { key: "p", ctrlKey: false, metaKey: false, altKey: false };
  assert.equal(actionOf(key, { ...free, inField: true }), null);
  assert.equal(actionOf(key, { ...free, lettersOn: false }), null);
  assert.equal(actionOf({ ...key, key: " " }, { ...free, onButton: true }), null);
  assert.equal(actionOf({ ...key, key: "PageDown" }, { ...free, lettersOn: false }), "start");
});

test("server-sent events are read whole, wherever the stream is cut, with any kind of line end", () => {
  for (const end of ["\n", "\r\n", "\r"]) {
    const stream = ["id: 1", 'data: {"a":1}', "", ": comment", "data: two", "data:lines", "", "event: x", "", "data", ""].join(end) + end;
    const whole = new SseParser().push(stream);
    assert.deepEqual(whole.slice(0, 2), ['{"a":1}', "two\nlines"]);
    for (let cut = 0; cut <= stream.length; cut += 1) {
      for (const second of [cut, Math.min(stream.length, cut + 1)]) {
        const parser = new SseParser();
        const got = [stream.slice(0, cut), stream.slice(cut, second), stream.slice(second)].flatMap((piece) => parser.push(piece));
        assert.deepEqual(got, whole, `cut at ${cut} and ${second} with ${JSON.stringify(end)}`);
      }
    }
  }
});

test("a poller asks behind what it has until the reply is over", async () => {
  const asked = /** @type {string[]} */ ([]);
  const answers = [
    { reply: "r1", poller: "p" },
    { events: [{ type: "queued", reply: "r1", position: 0, t: 0 }] }, { events: [delta(1, "a"), delta(2, "b")] }, { events: [] }, { events: [delta(3, "c"), done(3)] },
  ];
  const heard = /** @type {string[]} */ ([]);
  const real = globalThis.fetch;
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ address) => {
    asked.push(address.replace(/^.*\/api/, ""));
    return new Response(JSON.stringify(answers.shift()), { status: 200 });
  });
  try {
    await bringByPolling("http:" + "//x.test/compare", { id: "i" }, (event) => heard.push(event.type), new AbortController().signal, (reply) => heard.push(reply), async () => {});
  } finally {
    globalThis.fetch = real;
  }
  assert.deepEqual(heard, ["r1", "queued", "delta", "delta", "delta", "done"]);
  assert.deepEqual(asked, ["/replies", ...[0, 0, 2, 2].map((after) => `/replies/r1/poll?after=${after}&poller=p`)]);
});
