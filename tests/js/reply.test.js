import assert from "node:assert/strict";
import { test } from "node:test";
import { hear, isAbout, isLive, newReply, stopAt } from "../../static/js/chat/reply.js";

/** @param {number} seq @param {string} text @returns {import("../../static/js/events.js").Delta} */
const delta = (seq, text) => ({ type: "delta", reply: "r", seq, text, tokens: 1, t: seq });
const timings = { queue_ms: 1, prefill_ms: 2, first_token_ms: 3, decode_ms: 100, paused_ms: 0, total_ms: 110 };
/** @param {string} finish_reason @returns {import("../../static/js/events.js").Done} */
const done = (finish_reason) => ({
  type: "done", reply: "r", seq: 3, finish_reason, t: 9, timings,
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8, cached_tokens: 0 },
});

test("a reply goes from asking to done and keeps its text, times and counts", () => {
  const reply = newReply("r", "streamed", 0);
  assert.equal(reply.state, "asking");
  hear(reply, { type: "queued", reply: "r", position: 2, t: 0 }, 1);
  assert.deepEqual([reply.state, reply.position, reply.reply], ["queued", 2, "r"]);
  hear(reply, { type: "started", reply: "r", model: "m", prompt_tokens: 5, cached_tokens: 0, t: 1 }, 2);
  assert.equal(reply.state, "prefill");
  assert.equal(hear(reply, delta(1, "Two words"), 30), "Two words");
  assert.equal(hear(reply, delta(3, " more"), 50), " more");
  hear(reply, done("stop"), 60);
  assert.equal(reply.state, "done");
  assert.equal(reply.text, "Two words more");
  assert.deepEqual(reply.arrivals, [{ at_ms: 30, words: 2, tokens: 1 }, { at_ms: 50, words: 1, tokens: 1 }]);
  assert.equal(reply.tokens, 3);
});

test("the server gives the reply its own name, and its events are known by it", () => {
  const reply = newReply("mine", "streamed", 0);
  const queued = /** @type {const} */ ({ type: "queued", reply: "theirs", position: 0, t: 0, id: "mine" });
  const piece = { ...delta(1, "x"), reply: "theirs" };
  assert.equal(isAbout(reply, piece), false);
  assert.equal(isAbout(reply, queued), true);
  hear(reply, queued, 0);
  assert.equal(isAbout(reply, piece), true);
});

test("a piece that comes twice after a reconnection is taken once", () => {
  const reply = newReply("r", "streamed", 0);
  for (const event of [delta(1, "a"), delta(2, "b"), delta(2, "b"), delta(1, "a"), delta(3, "c")]) hear(reply, event, 0);
  assert.equal(reply.text, "abc");
});

test("after Stop nothing is added, but the server's counts are taken", () => {
  const reply = newReply("r", "streamed", 0);
  hear(reply, delta(1, "seen"), 0);
  hear(reply, delta(2, " unseen"), 0);
  stopAt(reply, "seen");
  assert.equal(hear(reply, delta(3, " late"), 1), "");
  hear(reply, done("cancelled"), 2);
  assert.deepEqual([reply.state, reply.text, reply.tokens], ["stopped", "seen", 3]);
});

test("an error keeps the text and says why", () => {
  const reply = newReply("r", "streamed", 0);
  hear(reply, delta(1, "kept"), 0);
  hear(reply, { type: "error", code: "engine_lost", message: "gone", retryable: true, reply: "r" }, 1);
  assert.deepEqual([reply.state, reply.text, reply.error?.code], ["failed", "kept", "engine_lost"]);
  assert.equal(isLive(reply), false);
});

test("events of another reply are not about this one; a refused start is", () => {
  const reply = newReply("mine", "streamed", 0);
  assert.equal(isAbout(reply, delta(1, "x")), false);
  assert.equal(isAbout(reply, { type: "error", code: "invalid_request", message: "", retryable: false, id: "mine" }), true);
  assert.equal(isAbout(reply, { type: "pong", t: 1 }), false);
});

