import assert from "node:assert/strict";
import { test } from "node:test";
import { Painter } from "../../static/js/answer/painter.js";
import { Exchange } from "../../static/js/chat/exchange.js";
import { newReply } from "../../static/js/chat/reply.js";
import { SignsOfLife } from "../../static/js/chat/signs_of_life.js";
import { plainSettings } from "../../static/js/chat/settings.js";
import { speak } from "../../static/js/words.js";

await speak(["common", "talk"], "en");

/** Frames that come when the test says so. */
function handFrames() {
  /** @type {(() => void)[]} */
  const waiting = [];
  return {
    isHidden: false,
    request: (/** @type {() => void} */ tell) => waiting.push(tell),
    cancel: () => void waiting.splice(0),
    hidden() {
      return this.isHidden;
    },
    frame: () => waiting.splice(0).forEach((tell) => tell()),
    count: () => waiting.length,
    now_ms: 0,
    now() {
      return this.now_ms;
    },
  };
}

/** @param {Partial<import("../../static/js/chat/reply.js").Reply>} [fields] */
function staged(fields = {}) {
  const reply = Object.assign(newReply("r1", "streamed", 0), fields);
  const frames = handFrames();
  const scene = { now: 1000, online: true, painted: "", ended: 0, sent: /** @type {any[]} */ ([]) };
  /** @type {import("../../static/js/chat/exchange.js").View} */
  const view = { paint: (text) => void (scene.painted += text), update() {}, finish() {} };
  const exchange = new Exchange(reply, [{ role: "user", content: "q" }], 1000, () => view, {
    send: (frame) => (scene.online ? (scene.sent.push(frame), true) : false),
    now: () => scene.now,
    afterPaint: (tell) => tell(scene.now + 5),
    hidden: () => frames.isHidden,
    changed() {},
    ended: () => void (scene.ended += 1),
  }, frames);
  /** @param {number} seq @param {string} text */
  const delta = (seq, text) => exchange.hear({ type: "delta", reply: "server-1", seq, text, tokens: 1, t: 0 });
  const queue = () => exchange.hear({ type: "queued", reply: "server-1", position: 0, t: 0, id: "r1" });
  const timings = { queue_ms: 1, prefill_ms: 2, first_token_ms: 3, decode_ms: 100, paused_ms: 0, total_ms: 110 };
  const done = () => exchange.hear({
    type: "done", reply: "server-1", seq: 9, finish_reason: "stop", t: 9, timings,
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8, cached_tokens: 0 },
  });
  /** What the page said, without its questions about the clock. */
  const said = () => scene.sent.filter(({ type }) => type !== "ping");
  return { reply, exchange, frames, scene, view, delta, queue, done, said };
}

/** One that the server has begun on. @param {Partial<import("../../static/js/chat/reply.js").Reply>} [fields] */
function begun(fields) {
  const all = staged(fields);
  all.exchange.begin();
  all.queue();
  return all;
}

/** One whose reader has seen a word and paused, and more has come since. */
function paused() {
  const all = begun();
  all.delta(1, "seen");
  all.view.onHold?.(true);
  all.delta(2, " unseen");
  return all;
}

test("the first text is painted at once, the next at most once a frame, nothing twice", () => {
  const frames = handFrames();
  /** @type {string[]} */
  const paints = [];
  const painter = new Painter((text) => void paints.push(text), frames);
  painter.push("a");
  assert.deepEqual(paints, ["a"]);
  painter.push("b");
  painter.push("c");
  assert.equal(frames.count(), 1);
  frames.frame();
  assert.deepEqual(paints, ["a", "bc"]);
  frames.frame();
  assert.deepEqual(paints, ["a", "bc"]);
});

test("in a hidden tab text is painted directly, for no frame will come", () => {
  const frames = handFrames();
  frames.isHidden = true;
  let painted = "";
  const painter = new Painter((text) => void (painted += text), frames);
  for (const piece of ["a", "b", "c"]) painter.push(piece);
  assert.equal(painted, "abc");
});

test("a start asks for words and acknowledges what is painted", () => {
  const { exchange, scene, delta, queue } = staged();
  exchange.begin();
  assert.deepEqual(scene.sent[0], { type: "start", id: "r1", messages: [{ role: "user", content: "q" }], pace: "word", acks: true });
  queue();
  delta(1, "Hello");
  assert.deepEqual(scene.sent.at(-1), { type: "ack", reply: "server-1", seq: 1 });
});

test("all at once is asked of the server, not played by the page", () => {
  const { exchange, scene } = staged({ mode: "whole" });
  exchange.begin();
  assert.equal(scene.sent[0].pace, "whole");
});

test("the clock runs from the click to the paint", () => {
  const { scene, reply, frames, delta } = begun();
  scene.now = 1200;
  delta(1, "Hello");
  scene.now = 1300;
  delta(2, " there");
  frames.frame();
  assert.equal(reply.firstPaint_ms, 205);
  assert.equal(reply.lastPaint_ms, 305);
  assert.deepEqual(reply.arrivals.map((arrival) => arrival.at_ms), [200, 300]);
});

test("after a lost connection it goes on behind the last piece", () => {
  const { exchange, scene, reply, delta } = begun();
  delta(1, "a");
  delta(2, "b");
  exchange.begin();
  assert.deepEqual(scene.sent.at(-1), { type: "attach", reply: "server-1", after: 2, pace: "word", acks: true });
  assert.equal(reply.flags.reconnected, true);
});

test("a connection lost before the server answered asks again with the same id", () => {
  const { exchange, scene } = staged();
  exchange.begin();
  exchange.begin();
  assert.deepEqual(scene.sent.map((frame) => [frame.type, frame.id]), [["start", "r1"], ["start", "r1"]]);
});

test("Stop drops what was not painted, keeps what was, and tells the server", () => {
  const { exchange, scene, reply, frames, delta } = begun();
  delta(1, "seen");
  delta(2, " not yet");
  exchange.stop();
  frames.frame();
  delta(3, " late");
  assert.equal(scene.painted, "seen");
  assert.equal(reply.text, "seen");
  assert.deepEqual(scene.sent.at(-1), { type: "stop", reply: "server-1" });
  assert.equal(reply.state, "stopped");
});

test("Stop before the server has named the reply is sent as soon as it has", () => {
  const { exchange, scene, queue, said } = staged();
  exchange.begin();
  exchange.stop();
  assert.equal(scene.sent.length, 1);
  queue();
  assert.deepEqual(said().at(-1), { type: "stop", reply: "server-1" });
});

test("a question for a model that still loads is asked when it is ready, once", () => {
  const { exchange, scene } = staged();
  exchange.begin();
  exchange.hear({ type: "error", code: "engine_loading", message: "", retryable: true, id: "r1" });
  assert.equal(scene.ended, 0);
  exchange.modelIsReady();
  exchange.modelIsReady();
  assert.deepEqual(scene.sent.map((frame) => frame.type), ["start", "start"]);
});

test("everything that arrived is painted when the reply fails", () => {
  const { exchange, scene, reply, delta } = begun();
  delta(1, "a");
  delta(2, "b");
  exchange.hear({ type: "error", code: "engine_lost", message: "gone", retryable: true, reply: "server-1" });
  assert.equal(scene.painted, "ab");
  assert.equal(reply.state, "failed");
});

test("a tab that was hidden in mid-reply is flagged and its text painted", () => {
  const { exchange, scene, reply, frames, delta } = begun();
  delta(1, "a");
  delta(2, "b");
  frames.isHidden = true;
  exchange.visibilityChanged();
  assert.equal(scene.painted, "ab");
  assert.equal(reply.flags.hidden, true);
});


test("what was chosen is asked for, and resuming keeps the pace", () => {
  const settings = { ...plainSettings(), pace: /** @type {const} */ ("sentence"), seed: 7, tokens_per_second: 5, inspect: true };
  const { exchange, said, queue } = staged({ settings });
  exchange.begin();
  assert.deepEqual(said()[0], {
    type: "start", id: "r1", messages: [{ role: "user", content: "q" }], pace: "sentence", acks: true,
    seed: 7, tokens_per_second: 5, logprobs: 5,
  });
  queue();
  exchange.begin();
  assert.equal(said().at(-1).pace, "sentence");
});

test("a reader who pauses sees nothing new and acknowledges nothing, and catches up at once", () => {
  const { scene, view, frames, delta, said } = begun();
  delta(1, "seen");
  view.onHold?.(true);
  delta(2, " b");
  delta(3, " c");
  frames.frame();
  assert.equal(scene.painted, "seen");
  assert.equal(said().at(-1).seq, 1);
  view.onHold?.(false);
  assert.equal(scene.painted, "seen b c");
  assert.deepEqual(said().at(-1), { type: "ack", reply: "server-1", seq: 3 });
});

test("the end of a paused reply waits for its reader; Stop then keeps what was seen, with the counts", () => {
  const { exchange, scene, reply, done } = paused();
  done();
  assert.deepEqual([scene.ended, reply.state], [0, "reading"]);
  exchange.stop();
  assert.deepEqual([scene.ended, reply.state, reply.text, reply.tokens], [1, "stopped", "seen", 3]);
  const other = paused();
  other.done();
  other.view.onHold?.(false);
  assert.deepEqual([other.scene.ended, other.reply.state, other.scene.painted], [1, "done", "seen unseen"]);
});

test("a paused reply whose end has come asks for nothing more, and an error of later does not touch it", () => {
  const { exchange, scene, view, reply, done, said } = paused();
  done();
  const asked = said().length;
  exchange.begin();
  exchange.hear({ type: "error", code: "not_found", message: "its time is over", retryable: false, reply: "server-1" });
  assert.equal(said().length, asked);
  assert.equal(reply.flags.reconnected, false);
  view.onHold?.(false);
  assert.deepEqual([reply.state, reply.error, reply.tokens, scene.painted], ["done", null, 3, "seen unseen"]);
});

test("the end that has come to a paused reply outlives the page: the next one asks for nothing", () => {
  const before = paused();
  before.done();
  const stored = structuredClone(before.reply);
  before.view.onHold?.(false);
  const { exchange, scene, reply } = staged(stored);
  exchange.begin();
  assert.deepEqual([reply.state, reply.text, reply.tokens, reply.late], ["done", "seen unseen", 3, undefined]);
  assert.deepEqual([scene.sent, scene.ended], [[], 1]);
});

test("an error ends a paused reply with all of its text", () => {
  const { exchange, scene, view, delta } = begun();
  view.onHold?.(true);
  delta(1, "a");
  exchange.hear({ type: "error", code: "engine_lost", message: "gone", retryable: true, reply: "server-1" });
  assert.deepEqual([scene.painted, scene.ended], ["a", 1]);
});

test("while the page is held a piece is acknowledged now and then, each once, in order", () => {
  /** @type {number[]} */
  const told = [];
  /** @type {(() => void)[]} */
  const ticking = [];
  const timers = { every: (/** @type {() => void} */ tell) => ticking.push(tell), cancel: () => void ticking.splice(0) };
  const life = new SignsOfLife(() => [4, 6, 9], (mark) => void told.push(mark), timers);
  life.show(true);
  for (let i = 0; i < 5; i += 1) ticking[0]?.();
  assert.deepEqual(told, [4, 6, 9]);
  life.show(false);
  assert.equal(ticking.length, 0);
});

test("smoothed text is shown later and evenly, acknowledged when shown, and what it added is counted", () => {
  const settings = { ...plainSettings(), smoothed: true };
  const { scene, reply, frames, delta, done, said } = begun({ settings });
  /** @param {number} now_ms */
  const at = (now_ms) => void (scene.now = frames.now_ms = now_ms);
  at(1000);
  delta(1, "a");
  delta(2, "b");
  done();
  frames.frame();
  assert.deepEqual([scene.painted, reply.state], ["", "reading"]);
  at(1250);
  frames.frame();
  assert.equal(scene.painted, "ab");
  assert.deepEqual([reply.state, scene.ended], ["done", 1]);
  assert.equal(said().at(-1).seq, 2);
  assert.deepEqual(reply.smoothing, { first_ms: 250, mean_ms: 250, longest_ms: 250, pieces: 2 });
});

test("the server's clock is asked for a few times and the quickest answer kept", () => {
  const { exchange, scene, reply, queue } = staged();
  scene.now = 1010;
  exchange.begin();
  scene.now = 1050;
  queue();
  assert.deepEqual(reply.trace?.clock, { zero_ms: 30, error_ms: 20, way_ms: 40 });
  for (const way_ms of [10, 4, 30, 30, 30, 30, 30]) {
    const ping = scene.sent.filter(({ type }) => type === "ping").at(-1);
    scene.now = 1000 + ping.t + way_ms;
    exchange.hear({ type: "pong", t: ping.t + way_ms / 2 - 25, echo: ping.t, reply: "server-1" });
  }
  assert.deepEqual(reply.trace?.clock, { zero_ms: 25, error_ms: 2, way_ms: 4 });
  assert.equal(scene.sent.filter(({ type }) => type === "ping").length, 6);
});

test("a second asking has no waterfall: its clock is not whole", () => {
  const { exchange, reply } = begun();
  exchange.begin();
  assert.equal(reply.trace, null);
});

test("a question that no frame can carry fails with a reason and is never sent", () => {
  const { reply, exchange, scene, said } = staged();
  exchange.messages = [{ role: "user", content: "y".repeat(70_000) }];
  exchange.begin();
  exchange.begin();
  assert.deepEqual(said(), []);
  assert.equal(reply.state, "failed");
  assert.equal(reply.error?.code, "request_too_large");
  assert.equal(scene.ended, 1);
});

test("a very long piece comes in slices, a frame each, its mark with the last and no character cut", () => {
  const frames = handFrames();
  /** @type {[string, number | null][]} */
  const paints = [];
  const painter = new Painter((text, mark) => void paints.push([text, mark]), frames);
  const long = `${"a".repeat(7998)}b👋${"c".repeat(9000)}`;
  painter.push(long, 7);
  assert.equal(paints.length, 1);
  assert.equal(painter.isBehind, true);
  frames.frame();
  assert.equal(painter.isBehind, false);
  painter.push("next", 8);
  frames.frame();
  assert.deepEqual(paints.map(([, mark]) => mark), [null, null, 8]);
  assert.equal(paints.map(([text]) => text).join(""), `${long}next`);
  assert.ok(paints.every(([text]) => text.length <= 8001 && /** @type {any} */ (text).isWellFormed?.() !== false));
});

test("the end of a very long answer waits until all of it is painted, and a hidden tab gets it at once", () => {
  for (const isHidden of [false, true]) {
    const { reply, frames, scene, delta, queue, done, said } = staged({ mode: "whole" });
    queue();
    frames.isHidden = isHidden;
    delta(1, "x".repeat(20_000));
    done();
    if (!isHidden) {
      assert.equal(reply.state, "reading");
      assert.equal(scene.painted.length, 8000);
      assert.ok(said().every(({ type }) => type !== "ack"));
      frames.frame();
      frames.frame();
    }
    assert.equal(reply.state, "done");
    assert.equal(scene.painted.length, 20_000);
    assert.deepEqual(said().filter(({ type }) => type === "ack").map(({ seq }) => seq), [1]);
  }
});
