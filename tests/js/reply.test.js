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


/** @param {boolean} [recovered] whether the place that was asked for is still there */
const started = (recovered) => ({ type: /** @type {const} */ ("started"), reply: "r", model: "m", prompt_tokens: 5, cached_tokens: 0, t: 1, ...(recovered === undefined ? {} : { recovered }) });

test("a text that is told once more from its beginning is taken on from where it ends here", () => {
  const reply = { ...newReply("r", "streamed", 0), text: "Before: ", begun: 8, continues: "v" };
  for (const event of [started(), delta(1, "one"), delta(2, " two")]) hear(reply, event, 10);
  const info = ["one", " two", " three"].map((data, token_id) => ({ token_id, data, logprob: -1 }));
  reply.seen = info.slice(0, 2).map(({ token_id: id, data }) => ({ id, data, logprob: -1, top: [], at_ms: 10, t: 1 }));
  hear(reply, started(false), 90_000);
  assert.equal(hear(reply, { ...delta(3, "one two three"), tokens: 3, info }, 90_000), " three");
  assert.equal(reply.text, "Before: one two three");
  assert.deepEqual(reply.arrivals.map(({ tokens }) => tokens), [1, 1, 1]);
  assert.deepEqual(reply.seen.map(({ data }) => data), ["one", " two", " three"]);
  assert.equal(hear(reply, { ...delta(4, " and"), tokens: 1, info: info.slice(0, 1) }, 90_010), " and");
  assert.deepEqual([reply.arrivals.at(-1)?.tokens, reply.seen.length], [1, 4]);
  hear(reply, started(true), 90_100);
  for (const event of [delta(4, " and"), delta(5, " four")]) hear(reply, event, 90_100);
  assert.equal(reply.text, "Before: one two three and four");
  assert.equal(reply.seq, 5);
});

test("what the server has ended because nobody was there is no failure, and was stopped by nobody", () => {
  /** @param {boolean} resumed @param {import("../../static/js/events.js").ServerEvent[]} events @param {number} at_ms */
  const after = (resumed, events, at_ms) => {
    const reply = newReply("r", "streamed", 0);
    for (const event of [started(), delta(1, "seen")]) hear(reply, event, 5);
    reply.reply = "r";
    reply.flags.resumed = resumed;
    for (const event of events) hear(reply, event, at_ms);
    return [reply.state, reply.flags.away, reply.text, reply.error?.code ?? null];
  };
  const forgotten = /** @type {const} */ ({ type: "error", code: "not_found", message: "", retryable: false, reply: "r" });
  assert.deepEqual(after(true, [forgotten], 90_000), ["stopped", true, "seen", null]);
  assert.deepEqual(after(false, [forgotten], 90_000), ["failed", false, "seen", "not_found"]);
  const whole = { ...delta(2, "seen and not"), tokens: 2 };
  assert.deepEqual(after(false, [started(false), whole, done("cancelled")], 90_000), ["stopped", true, "seen and not", null]);
  assert.deepEqual(after(true, [started(true), done("cancelled")], 90_000), ["stopped", true, "seen", null]);
  assert.deepEqual(after(true, [started(true), done("cancelled")], 300), ["stopped", false, "seen", null], "another tab has stopped it");
  assert.deepEqual(after(true, [started(false), whole, done("stop")], 90_000), ["done", false, "seen and not", null]);
});
