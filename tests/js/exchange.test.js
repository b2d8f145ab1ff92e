import assert from "node:assert/strict";
import { test } from "node:test";
import { Painter } from "../../static/js/answer/painter.js";
import { Exchange } from "../../static/js/chat/exchange.js";
import { newReply } from "../../static/js/chat/reply.js";

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
  };
}

/** @param {Partial<import("../../static/js/chat/reply.js").Reply>} [fields] */
function staged(fields = {}) {
  const reply = Object.assign(newReply("r1", "streamed", 0), fields);
  const frames = handFrames();
  const scene = { now: 1000, online: true, painted: "", ended: 0, sent: /** @type {any[]} */ ([]) };
  const view = { paint: (/** @type {string} */ text) => void (scene.painted += text), update() {}, finish() {} };
  const exchange = new Exchange(reply, [{ role: "user", content: "q" }], 1000, view, {
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
  return { reply, exchange, frames, scene, delta, queue };
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
  const { exchange, scene, reply, frames, delta, queue } = staged();
  exchange.begin();
  queue();
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
  const { exchange, scene, reply, delta, queue } = staged();
  exchange.begin();
  queue();
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
  const { exchange, scene, reply, frames, delta, queue } = staged();
  exchange.begin();
  queue();
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
  const { exchange, scene, queue } = staged();
  exchange.begin();
  exchange.stop();
  assert.equal(scene.sent.length, 1);
  queue();
  assert.deepEqual(scene.sent.at(-1), { type: "stop", reply: "server-1" });
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
  const { exchange, scene, reply, delta, queue } = staged();
  exchange.begin();
  queue();
  delta(1, "a");
  delta(2, "b");
  exchange.hear({ type: "error", code: "engine_lost", message: "gone", retryable: true, reply: "server-1" });
  assert.equal(scene.painted, "ab");
  assert.equal(reply.state, "failed");
});

test("a tab that was hidden in mid-reply is flagged and its text painted", () => {
  const { exchange, scene, reply, frames, delta, queue } = staged();
  exchange.begin();
  queue();
  delta(1, "a");
  delta(2, "b");
  frames.isHidden = true;
  exchange.visibilityChanged();
  assert.equal(scene.painted, "ab");
  assert.equal(reply.flags.hidden, true);
});

