import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { readLane } from "../../static/js/race/lane_settings.js";
import { codeOf, readFragment, spellCode, tidyCode } from "../../static/js/rooms/join_code.js";
import { backPhase, isResting, nextPhase, teacherKey } from "../../static/js/rooms/next_step.js";
import { Playing } from "../../static/js/rooms/playing.js";
import { judge } from "../../static/js/rooms/preflight.js";
import { entryWord, momentOf, refusalWord, troubleWord } from "../../static/js/rooms/refusals.js";
import { RoomClock } from "../../static/js/rooms/room_clock.js";
import { readRoomFrame } from "../../static/js/rooms/room_frames.js";
import { finalStatus, SILENCE_MS, statusOf, waitToRetry } from "../../static/js/rooms/room_status.js";
import { LANES, nextKind, roundPlan } from "../../static/js/rooms/round_plans.js";
import { Sight } from "../../static/js/rooms/sight.js";
import { spreadShape } from "../../static/js/rooms/spread.js";
import { Wishes } from "../../static/js/rooms/wishes.js";
import { CODES, Failed, sayFailure } from "../../static/js/stream/failure.js";
import { say, speak } from "../../static/js/words.js";

/** @param {object} fields @returns {any} */
const room = (fields) => ({ type: "room", phase: "idle", closed: false, host_online: true, round: null, sending: null, ...fields });
/** @param {object} fields @returns {any} */
const text = (fields) => ({ type: "text", stimulus: "x", lane: "a", seq: 1, pieces: 1, text: "One", tokens: 1, t: 100, ...fields });
/** One that was not touched. @param {number} started_ms @returns {any} */
const stimulus = (started_ms) => ({ started_ms, playhead: { at_ms: 0, since_ms: 0, speed: 1 } });

test("a code is read however it is written, and nothing else is one", () => {
  for (const written of ["K7QX2M", "k7q x2m", " k7q-x2m ", spellCode("K7QX2M")]) assert.equal(codeOf(written), "K7QX2M");
  for (const wrong of ["", "K7QX2", "K7QX2MM", "K0QX2M", "K1QX2M", "KLQX2M", "k7q.x2m"]) assert.equal(codeOf(wrong), null);
  assert.equal(tidyCode("k0 7-q"), "K7Q");
});

test("a fragment holds a code, and a secret that may hold anything", () => {
  assert.deepEqual(readFragment("#K7QX2M"), { code: "K7QX2M", secret: "" });
  assert.deepEqual(readFragment("#k7qx2m.a.b-c_d"), { code: "K7QX2M", secret: "a.b-c_d" });
  assert.equal(readFragment(""), null);
  assert.equal(readFragment("#%E0%A4%A"), null);
});

test("frames that are broken or unknown are passed over", () => {
  for (const data of ["", "{", "null", "7", '{"type":"toString"}', '{"type":"new"}', new ArrayBuffer(2)]) assert.equal(readRoomFrame(data), null);
  assert.equal(readRoomFrame('{"type":"ping","t":1}')?.type, "ping");
});

test("the shortest way there and back sets the clock", () => {
  let now = 1000;
  const clock = new RoomClock(() => now);
  assert.ok(Number.isNaN(clock.at_ms(stimulus(0))));
  now = 1400;
  clock.heard(1000, 51_000); // 400 ms on the way: the server's 51 000 is about 1200 here.
  assert.equal(clock.error_ms, 200);
  now = 2020;
  clock.heard(2000, 51_900); // 20 ms: 51 900 is 2010 here.
  now = 3000;
  clock.heard(2000, 60_000);
  assert.equal(clock.error_ms, 10);
  assert.equal(clock.here_ms(51_900), 2010);
  assert.equal(clock.at_ms(stimulus(51_900)), 990);
  const halved = { ...stimulus(51_900), playhead: { at_ms: 100, since_ms: 900, speed: 0.5 } };
  assert.equal(clock.at_ms(halved), 145, "it was at 100, and 90 ms have passed at half the speed");
  assert.equal(clock.at_ms({ ...halved, playhead: { at_ms: 100, since_ms: 900, speed: 0 } }), 100);
});

test("a phone says what is the matter, and the room's end wins over everything", () => {
  const open = { open: true, closeCode: null, silent_ms: 0 };
  assert.equal(statusOf(open, room({})), "live");
  assert.equal(statusOf(open, room({ host_online: false })), "host_lost");
  assert.equal(statusOf(open, room({ closed: true, host_online: false })), "ended");
  assert.equal(statusOf({ ...open, open: false }, room({})), "reconnecting");
  assert.equal(statusOf({ ...open, open: false, silent_ms: SILENCE_MS }, room({})), "host_lost");
  assert.equal(statusOf({ ...open, open: false }, null), "reconnecting");
  assert.equal(statusOf({ ...open, open: false, closeCode: 4403 }, room({})), "kicked");
  for (const code of [1001, 1006, 1012, 1013, 4429, null]) assert.equal(finalStatus(code), null);
  assert.ok(SILENCE_MS + 5000 <= 25_000, "within 25 seconds");
});

test("a class comes back spread over time, within the limits", () => {
  for (const failures of [0, 1, 5, 40]) {
    assert.equal(waitToRetry(failures, 1006, 500, 0), 500);
    assert.ok(waitToRetry(failures, 1006, 5000, 0.999) <= 20_000);
  }
  assert.ok(waitToRetry(0, 1006, 30, 0.999) <= 2000, "one phone's own trouble is soon over");
  assert.ok(waitToRetry(0, 1006, 500, 0.999) > 16_000, "five hundred take sixteen seconds");
  for (const wait of [waitToRetry(0, 1012, 0, 0.999), waitToRetry(1, 1006, 0, 0.999)]) assert.ok(wait > 19_900);
});

test("text joins to the same reply whole, in pieces, and begun again", () => {
  const words = ["One", " two", " three", " four"];
  for (let split = 0; split <= words.length; split += 1) {
    const playing = new Playing("x", null);
    words.forEach((word, i) => playing.hear(text({ seq: i + 1, text: word, t: 100 * i }), 100 * i + 5));
    // The line was lost and comes back: first all there is, then the rest.
    const early = words.slice(0, split);
    if (split) playing.hear(text({ seq: split, pieces: split, text: early.join(""), t: 100 }), 9000);
    words.slice(split).forEach((word, i) => playing.hear(text({ seq: split + i + 1, text: word }), 9001));
    playing.hear(text({ seq: 5, text: "", end: "stop", t: 400 }), 9002);
    const { a, b } = playing.lanes;
    assert.equal(a.arrivals.map((arrival) => arrival.text).join(""), words.join(""));
    assert.ok(a.ended_ms !== null && b.ended_ms === null && !playing.isOver);
    if (split) assert.ok(a.late, "what was not seen as it came is not clocked");
  }
});

test("text of another stimulus is not heard", () => {
  const playing = new Playing("x", null);
  playing.hear(text({ stimulus: "y" }), 100);
  assert.equal(playing.lanes.a.arrivals.length, 0);
});

test("the next step leads through a round with one vote again, and through a sending", () => {
  const steps = [];
  let state = room({ phase: "predict", round: {} });
  for (let next = nextPhase(state); next !== null; next = nextPhase(state)) {
    steps.push(next);
    const voted = state.round.results;
    if (next === "reveal") state = room({ phase: next, round: voted ? { results: {}, revote_results: {} } : { results: {} } });
    else state = room({ phase: next, round: state.round });
  }
  assert.deepEqual(steps, ["watch", "vote", "reveal", "discuss", "vote", "reveal", "discuss", "idle"]);
  assert.deepEqual(["collect", "sending", "results"].map((phase) => nextPhase(room({ phase }))), ["sending", "results", "idle"]);
  assert.equal(backPhase(room({ phase: "watch" })), "watch");
  assert.equal(backPhase(room({ phase: "vote" })), null);
  assert.ok(isResting("reveal") && !isResting("vote"));
});

test("clickers and keys do what they say, letters only where they may", () => {
  const press = (/** @type {string} */ key, place = {}) => teacherKey(
    { key, ctrlKey: false, metaKey: false, altKey: false, repeat: false }, { inField: false, onButton: false, lettersOn: true, ...place });
  for (const key of ["PageDown", "ArrowRight", " "]) assert.equal(press(key), "next");
  for (const key of ["PageUp", "ArrowLeft"]) assert.equal(press(key), "back");
  for (const key of ["b", "B", "."]) assert.equal(press(key), "blank");
  assert.equal(press("p"), "pause");
  assert.equal(press("b", { lettersOn: false }), null);
  assert.equal(press(" ", { lettersOn: false }), "next");
  assert.equal(press(" ", { onButton: true }), null);
  assert.equal(press("PageDown", { inField: true }), null);
  assert.equal(press("toString"), null);
});

test("the lesson's rounds come in order, and a catch round is announced to the server alone", () => {
  assert.equal(nextKind([]), "usual");
  assert.equal(nextKind([{ catch: false, flip: false }]), "turned");
  assert.equal(nextKind([{ catch: false, flip: false }, { catch: false, flip: true }]), "catch");
  /** @type {any} */
  const wishes = { kind: "catch", lanes: ["token.polling", "delayed"], closes: "clock", prompt: " Why? ", recording: "", question: "faster", askPrediction: true, askFelt: false, mirror: true, maxTokens: 80 };
  const plan = roundPlan(wishes, (lane) => lane);
  assert.deepEqual(plan.lanes, [{ pace: "token", every_ms: 500, label: "token.polling" }, { pace: "token", delay_ms: 1500, label: "delayed" }]);
  assert.deepEqual([plan.closes, plan.close_s], ["clock", 60]);
  assert.ok(!("closes" in roundPlan({ ...wishes, closes: "hand" }, (lane) => lane)), "by hand is what the server does anyway");
  for (const lane of LANES) assert.ok(lane === "delayed" || readLane(lane), `${lane} is one of the race's`);
  assert.ok(plan.catch === true && plan.flip === false && plan.prompt === "Why?" && !("recording" in plan));
  assert.ok(!("prompt" in roundPlan({ ...wishes, recording: "r1" }, (lane) => lane)));
});

test("every phone is in the histogram once, and the server's share below the line", () => {
  const phones = [100, 110, 120, 900, 2400];
  const shape = spreadShape(phones, [80, 85], { width: 600, height: 200, text: 16 });
  assert.equal(shape.phones.reduce((sum, { count }) => sum + count, 0), 5);
  assert.equal(shape.server.reduce((sum, { count }) => sum + count, 0), 2);
  for (const bar of shape.phones) assert.ok(bar.y >= 0 && Math.abs(bar.y + bar.height - shape.base) < 0.2);
  for (const bar of shape.server) assert.ok(bar.y === shape.base && bar.y + bar.height <= 200);
  assert.ok([...shape.phones, ...shape.server].every(({ x, width }) => x >= 0 && x + width <= 600));
  assert.equal(spreadShape([], [], { width: 600, height: 200, text: 16 }).phones.length, 0);
});

test("a vote is said again until it is counted, and dropped when its ballot has closed", () => {
  /** @type {any[]} */
  const said = [];
  const wishes = new Wishes((command) => said.push(command) > 0);
  const open = room({ phase: "vote", round: { id: 3, ballot: "vote" } });
  /** @type {any} */
  const me = { card: { order: "ab", vote: null } };
  wishes.vote(3, "vote", "2");
  assert.equal(wishes.pending(open, me), "2");
  wishes.repeat();
  assert.equal(said.length, 2);
  assert.equal(wishes.pending(open, { ...me, card: { order: "ab", vote: "2" } }), null);
  wishes.vote(3, "vote", "1");
  assert.equal(wishes.pending(room({ phase: "reveal", round: { id: 3, ballot: null } }), me), null);
  wishes.repeat();
  assert.equal(said.length, 3);
});

test("a vote that was refused is not said again, and is told of unless it may have been counted before", () => {
  let isThere = true;
  /** @type {any[]} */
  const said = [];
  const wishes = new Wishes((command) => isThere && said.push(command) > 0);
  const open = room({ phase: "vote", round: { id: 3, ballot: "vote" } });
  /** @param {string | null} vote @returns {any} */
  const me = (vote) => ({ card: { order: "ab", vote } });
  assert.equal(wishes.refused(open, me(null)), false, "nothing was pressed");
  wishes.vote(3, "vote", "2");
  assert.equal(wishes.refused(open, me("1")), true);
  assert.equal(wishes.pending(open, me("1")), null, "what counts is shown again");
  wishes.repeat();
  assert.equal(said.length, 1);
  wishes.vote(3, "vote", "2");
  wishes.repeat();
  assert.equal(wishes.refused(room({ phase: "reveal", round: { id: 3, ballot: null } }), me("2")), false, "its repetition came late, not the vote");
  const later = room({ phase: "predict", round: { id: 4, ballot: "predict" } });
  assert.equal(wishes.refused(later, me(null)), false, "nobody knows what became of it");
  isThere = false;
  wishes.vote(3, "vote", "1");
  isThere = true;
  wishes.repeat();
  assert.equal(wishes.refused(later, me(null)), true, "it first went out too late");
});

test("the console has a sentence of its own for every refusal of the room", () => {
  const word = (/** @type {object} */ refusal, /** @type {object} */ fields = {}) => troubleWord(/** @type {any} */ ({ code: "invalid_request", ...refusal }), room(fields));
  assert.equal(word({ about: "advance", param: "to" }, { phase: "collect" }), "troubleNobodyWrote");
  assert.equal(word({ about: "advance", param: "to" }, { phase: "vote" }), "troubleMoved");
  assert.equal(word({ about: "advance", param: "since" }), "troubleMoved");
  assert.equal(word({ about: "open_round", param: "type" }, { phase: "idle" }), "troubleFull");
  assert.equal(word({ about: "open_round", param: "type" }, { phase: "vote" }), "troubleMoved");
  assert.equal(word({ about: "open_round", param: "plan.prompt" }), "troubleNoQuestion");
  assert.equal(word({ about: "spotlight", param: "number" }), "troublePerson");
  assert.equal(word({ about: "kick", param: null }), "troubleOther");
  assert.equal(word({ about: "kick", code: "rate_limited", param: null }), "troubleRate");
  assert.equal(word({ about: "kick", code: "not_found", param: "type" }), "roomGone");
});

test("what keeps a phone out of a class has a sentence by its code", () => {
  assert.deepEqual(["not_found", "rate_limited", "overloaded", "forbidden"].map(entryWord), ["enterUnknown", "enterRate", "enterFull", "enterRefused"]);
});

test("every failure that the server can tell has its words in every language, and English keeps the server's own", async () => {
  const tree = readFileSync(new URL("../../app/errors.py", import.meta.url), "utf8");
  const codes = [...tree.matchAll(/^    code = "(\w+)"/gm)].map(([, code]) => code);
  const other = new Set(["internal_error", "invalid_request"]);
  assert.deepEqual(codes.filter((code) => !other.has(code ?? "") && !CODES.some((each) => each === code)), []);
  try {
    await speak(["failures"], "hi");
    for (const code of CODES) assert.doesNotMatch(sayFailure({ code, message: "No memory left." }, "hi"), /[A-Za-z]/, code);
    assert.equal(sayFailure({ code: "out_of_memory", message: "No memory left for 3 blocks." }, "en"), "No memory left for 3 blocks.");
    assert.match(sayFailure({ code: "invalid_request", message: "text is wrong" }, "hi"), /\(invalid_request\)$/);
    assert.equal(sayFailure(new Failed({ code: "engine_lost" }), "hi"), say("failure_engine_lost"));
  } finally {
    await speak(["failures"], "en");
  }
});

test("a refused press has a sentence, and what nobody pressed has none", () => {
  const word = (/** @type {object} */ refusal, /** @type {object} */ fields = {}) => refusalWord(/** @type {any} */ ({ code: "invalid_request", ...refusal }), room(fields));
  assert.equal(word({ about: "send_own", param: "type" }), "refusedSendOwn");
  assert.equal(word({ about: "send_own", param: "frozen" }), "refusedFrozen", "held, and this phone has not heard of it");
  assert.equal(word({ about: "send_own", code: "not_found", param: "type" }), "refusedGone");
  assert.equal(word({ about: "ask", param: "type" }), "refusedAskLate");
  assert.equal(word({ about: "nickname", param: "wanted" }), "refusedNicknames");
  assert.equal(word({ about: "send_own" }, { frozen: true }), "refusedFrozen");
  assert.equal(word({ about: "nickname", code: "rate_limited" }, { frozen: true }), "refusedRate");
  assert.equal(word({ about: "vote" }, { phase: "reveal", round: { id: 3, ballot: null } }), "refusedLate");
  assert.equal(word({ about: "vote" }, { phase: "vote", round: { id: 3, ballot: "vote" } }), "refusedOther");
  assert.equal(word({ about: "vote", param: "round" }, { phase: "vote", round: { id: 4, ballot: "vote" } }), "refusedLate");
  for (const about of ["seen", "measured", "hello", ""]) assert.equal(word({ about, code: "rate_limited" }), null);
  const at = (/** @type {object} */ fields) => momentOf(room(fields));
  assert.equal(at({ phase: "vote", round: { id: 3, ballot: "vote" } }), at({ phase: "vote", frozen: true, round: { id: 3, ballot: "vote" } }), "held, let go: still news");
  assert.notEqual(at({ phase: "vote", round: { id: 3, ballot: "vote" } }), at({ phase: "vote", round: { id: 3, ballot: "revote" } }));
});

test("what was painted first stays, what was hidden stays hidden, and a new playing begins anew", () => {
  /** @type {any[]} */
  const said = [];
  const sight = new Sight((command) => said.push(command), () => 4.26);
  const playing = (/** @type {string} */ id) => room({ phase: "watch", round: { id: 3, mirror: true, ballot: null, stimulus: { id } } });
  sight.paint("a", 10);
  assert.equal(said.length, 0, "nothing plays");
  sight.show(playing("x"), true, false);
  sight.paint("a", 430.24);
  sight.paint("a", 999);
  assert.deepEqual(said.at(-1), { type: "seen", round: 3, stimulus: "x", first_paint_ms: { a: 430.2 }, hidden: false, clock_error_ms: 4.3 });
  sight.hide();
  assert.equal(said.at(-1).hidden, true);
  sight.show(playing("y"), true, false);
  sight.paint("b", 50);
  assert.deepEqual([said.at(-1).stimulus, said.at(-1).hidden, said.at(-1).first_paint_ms], ["y", false, { b: 50 }]);
  const before = said.length;
  sight.show(playing("z"), false, true);
  sight.paint("a", 5);
  assert.equal(said.length, before, "who came late reports nothing");
});

test("a measurement before the lesson is judged by its own limits", () => {
  assert.deepEqual([judge("way", 20).verdict, judge("way", 100).verdict, judge("way", 400).verdict], ["well", "fair", "bad"]);
  assert.deepEqual([judge("bandwidth", 20).verdict, judge("bandwidth", 2).verdict, judge("bandwidth", 0.3).verdict], ["well", "fair", "bad"]);
});
