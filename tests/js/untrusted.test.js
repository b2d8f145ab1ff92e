import assert from "node:assert/strict";
import { test } from "node:test";
import { fileName, fromJson, toJson, toMarkdown } from "../../static/js/chat/archive.js";
import { ROOT, newConversation, shownPath, withReply, withTurn } from "../../static/js/chat/conversation.js";
import { readConversation, renamed, upgraded } from "../../static/js/chat/records.js";
import { newReply } from "../../static/js/chat/reply.js";
import { found, marked, wordsOf } from "../../static/js/chat/search.js";
import { chosenSettings, plainSettings, readNumber, readSettings, wireSettings } from "../../static/js/chat/settings.js";
import { experimentLink, readExperiment } from "../../static/js/chat/share_link.js";
import { Unreadable } from "../../static/js/chat/untrusted.js";
import { waterfallOf } from "../../static/js/measure/waterfall.js";
import { speak } from "../../static/js/words.js";

await speak(["common", "talk"], "en");

const ids = ["c0ffee01", "aaaaaaa1", "bbbbbbb1", "aaaaaaa2", "bbbbbbb2", "bbbbbbb3"];
const [C, Q1, R1, Q2, R2, R1B] = /** @type {[string, string, string, string, string, string]} */ (ids);

function sample() {
  const done = { state: /** @type {const} */ ("done"), ended_ms: 900, firstPaint_ms: 120, lastPaint_ms: 890 };
  const first = { ...newReply(R1, "streamed", 5), ...done, text: "One.", settings: { ...plainSettings(), seed: 7 }, continues: null };
  let conversation = withTurn(newConversation(C, 1000), { id: Q1, parent: ROOT, question: "Why?", replies: [first] });
  conversation = withTurn(conversation, { id: Q2, parent: R1, question: "And then?", replies: [{ ...newReply(R2, "whole", 6), ...done, text: "Two.", settings: plainSettings(), continues: null }] });
  return { ...conversation, title: "Mine" };
}
let count = 0;
const newId = () => `feed${String((count += 1)).padStart(4, "0")}`;
const nowhere = () => false;
/** @param {unknown} conversation */
const file = (conversation) => JSON.stringify({ format: "firstword.conversations", version: 1, conversations: [conversation] });

test("what was exported is imported as it was", () => {
  const [back] = fromJson(toJson([sample()], 0), nowhere, newId);
  assert.deepEqual(back, { ...sample(), removed: [] });
});

test("what stands behind a reply's numbers travels with it", () => {
  const conversation = sample();
  const reply = /** @type {import("../../static/js/chat/reply.js").Reply} */ (conversation.turns[0]?.replies[0]);
  Object.assign(reply, {
    trace: { sent_ms: 3, clock: { zero_ms: 4.5, error_ms: 0.5, way_ms: 1 }, first: { at_ms: 110, released_t: 104 } },
    seen: [{ id: 7, data: "IPCfq5Y=", logprob: -0.25, top: [[7, "IPCfq5Y=", -0.25], [9, "IGE=", -1.5]], at_ms: 110, t: 104 }],
    smoothing: { first_ms: 250, mean_ms: 120, longest_ms: 300, pieces: 4 },
  });
  const timings = { queue_ms: 1, prefill_ms: 90, first_token_ms: 100, decode_ms: 50, paused_ms: 0, total_ms: 150 };
  reply.timings = timings;
  const [back] = fromJson(toJson([conversation], 0), nowhere, newId);
  assert.deepEqual(back, { ...conversation, removed: [] });
  assert.ok(waterfallOf(/** @type {any} */ (back?.turns[0]?.replies[0])));
});

test("a conversation that is here already comes in under new names, whole and connected", () => {
  const [back] = fromJson(toJson([sample()], 0), (id) => id === C, newId);
  assert.notEqual(back?.id, C);
  assert.deepEqual(shownPath(/** @type {any} */ (back)).map(({ turn, reply }) => [turn.question, reply?.text]), [["Why?", "One."], ["And then?", "Two."]]);
  assert.ok(back?.turns.every(({ id }) => !ids.includes(id)));
});

test("one file with one conversation twice makes two", () => {
  const text = toJson([sample(), sample()], 0);
  assert.equal(new Set(fromJson(text, nowhere, newId).map(({ id }) => id)).size, 2);
});

test("a version that goes on from another still does after renaming", () => {
  const conversation = withReply(sample(), Q1, { ...newReply(R1B, "streamed", 7), text: "One. More", continues: R1 });
  const back = renamed(conversation, newId);
  assert.equal(back.turns[0]?.replies[1]?.continues, back.turns[0]?.replies[0]?.id);
});

test("a reply that was on its way elsewhere is over here", () => {
  const conversation = sample();
  const [, second] = conversation.turns;
  Object.assign(second?.replies[0] ?? {}, { state: "reading" });
  assert.equal(fromJson(file(conversation), nowhere, newId)[0]?.turns[1]?.replies[0]?.state, "stopped");
});

/** @type {[string, (raw: any) => void, RegExp][]} */
const HOSTILE = [
  ["a conversation that is a list", (raw) => Object.assign(raw, { turns: {} }), /turns: wantsList/],
  ["an id that is a prototype's name", (raw) => void (raw.id = "__proto__"), /id: wantsId/],
  ["an id that is a method's name", (raw) => void (raw.turns[0].id = "constructor"), /turns\[0\].id: wantsId/],
  ["a question that is an object", (raw) => void (raw.turns[0].question = { toString: "x" }), /question: wantsText/],
  ["a time that is a text", (raw) => void (raw.turns[0].replies[0].asked_epoch_ms = "1"), /asked_epoch_ms: wantsNumber/],
  ["a mode of its own", (raw) => void (raw.turns[0].replies[0].mode = "javascript:"), /mode: wantsChoice/],
  ["a text of two million characters", (raw) => void (raw.turns[0].replies[0].text = "x".repeat(2e6)), /text: tooLong/],
  ["too many turns", (raw) => void (raw.turns = Array(6000).fill(raw.turns[0])), /turns: tooMany/],
  ["too many arrivals", (raw) => void (raw.turns[0].replies[0].arrivals = Array(60_000).fill({})), /arrivals: tooMany/],
  ["a stamp that is no number", (raw) => void (raw.turns[0].replies[0].trace = { sent_ms: "0", clock: null, first: null }), /trace.sent_ms: wantsNumber/],
  ["a token whose bytes are markup", (raw) => void (raw.turns[0].replies[0].seen = [{ id: 1, data: "<img>", logprob: -1, at_ms: 0, t: 0 }]), /seen\[0\].data: wantsBase64/],
  ["more tokens than are kept", (raw) => void (raw.turns[0].replies[0].seen = Array(3000).fill({})), /seen: tooMany/],
  ["smoothing without its amount", (raw) => void (raw.turns[0].replies[0].smoothing = { first_ms: 1 }), /smoothing.mean_ms: wantsNumber/],
  ["one name twice", (raw) => void raw.turns.push(raw.turns[0]), /twice/],
  ["null for a turn", (raw) => void (raw.turns[1] = null), /turns\[1\]: wantsObject/],
];
for (const [what, spoil, why] of HOSTILE) {
  test(`a file is refused, naming the place: ${what}`, () => {
    const raw = JSON.parse(JSON.stringify(sample()));
    spoil(raw);
    assert.throws(() => fromJson(file(raw), nowhere, newId), (error) => error instanceof Unreadable && why.test(error.message));
  });
}

test("what is no file of ours is refused in words of its own", () => {
  const words = ["{", "[]", "null", '{"format":"x"}', '{"format":"firstword.conversations","version":2}'].map((text) => {
    try {
      return fromJson(text, nowhere, newId).length;
    } catch (error) {
      return /** @type {Unreadable} */ (error).word;
    }
  });
  assert.deepEqual(words, ["notJson", "wantsObject", "wantsObject", "notOurs", "otherVersion"]);
});

test("unknown fields are dropped and no prototype is touched", () => {
  const raw = JSON.parse(`{"__proto__": {"polluted": 1}, ${JSON.stringify({ ...sample(), evil: "<img>" }).slice(1)}`);
  const read = /** @type {any} */ (readConversation(raw, "it"));
  assert.equal(read.evil, undefined);
  assert.equal(/** @type {any} */ ({}).polluted, undefined);
  assert.equal(Object.getPrototypeOf(read), Object.prototype);
});

test("a tree whose turns are each other's parents comes in empty instead of for ever", () => {
  const raw = JSON.parse(JSON.stringify(sample()));
  raw.turns[0].parent = R2;
  assert.deepEqual(fromJson(file(raw), nowhere, newId)[0]?.turns, []);
});

test("conversations of the first version become a chain below their newest replies", () => {
  const old = {
    id: C, updated_epoch_ms: 5,
    turns: [
      { id: Q1, question: "Why?", replies: [newReply(R1, "streamed", 1), newReply(R1B, "whole", 2)] },
      { id: Q2, question: "And?", replies: [newReply(R2, "streamed", 3)] },
    ],
  };
  const now = upgraded(structuredClone(old));
  assert.deepEqual(shownPath(now).map(({ turn, reply }) => [turn.question, reply?.id]), [["Why?", R1B], ["And?", R2]]);
  assert.equal(now.revision, 0);
  assert.deepEqual(now.settings, plainSettings());
  assert.equal(upgraded(now), now);
});

test("Markdown shows the way that is on the page, for people", () => {
  assert.equal(toMarkdown(sample()), "# Mine\n\n> Why?\n\n_Streamed_\n\nOne.\n\n> And then?\n\n_All at once_\n\nTwo.\n");
});

test("a file's name has nothing that a file system minds", () => {
  assert.equal(fileName({ ...sample(), title: "../../a:b*c?.exe" }, "md"), "firstword-a-b-c-exe.md");
  assert.equal(fileName({ ...sample(), title: "आकाश नीला" }, "md").startsWith("firstword-"), true);
  assert.equal(fileName({ ...sample(), title: "???" }, "md"), "firstword-chat.md");
});

test("a link says an experiment in any script, and back", () => {
  const settings = { ...plainSettings(), seed: 7, temperature: 0, system: "Sei kurz. 😀" };
  const link = experimentLink("http://host/chat/?x=1#old", { prompt: "आकाश नीला क्यों? +/=", mode: "whole", settings });
  assert.match(link, /^http:\/\/host\/chat\/\?x=1#try=[A-Za-z0-9_-]+$/);
  assert.deepEqual(readExperiment(link.slice(link.indexOf("#"))), { prompt: "आकाश नीला क्यों? +/=", mode: "whole", settings, refused: [] });
});

test("a link's settings beyond the limits are named and not taken", () => {
  const json = JSON.stringify({ v: 1, prompt: "p", settings: { temperature: 9, seed: 3, __proto__x: 1, constructor: 2, pace: "warp", max_tokens: "5" } });
  const { settings, refused } = readExperiment(`#try=${Buffer.from(json).toString("base64url")}`);
  assert.deepEqual(chosenSettings(settings), { seed: 3 });
  assert.deepEqual(refused.sort(), ["__proto__x", "constructor", "max_tokens", "pace", "temperature"]);
});

for (const [what, fragment] of [
  ["no base64", "#try=%%%"], ["half of it", "#try=eyJ2IjoxLCJwcm9t"], ["no object", "#try=MQ"], ["bytes that are no UTF-8", "#try=_____w"],
  ["another version", `#try=${Buffer.from('{"v":2,"prompt":""}').toString("base64url")}`], ["a prompt that is a number", `#try=${Buffer.from('{"v":1,"prompt":5}').toString("base64url")}`],
  ["a mode of its own", `#try=${Buffer.from('{"v":1,"prompt":"a","mode":"x"}').toString("base64url")}`], ["far too much", `#try=${"A".repeat(70_000)}`],
]) {
  test(`a broken link is refused: ${what}`, () => assert.throws(() => readExperiment(/** @type {string} */ (fragment)), Unreadable));
}

test("the wire gets what was chosen and nothing else", () => {
  assert.deepEqual(wireSettings(plainSettings()), {});
  assert.deepEqual(wireSettings(undefined), {});
  const chosen = { ...plainSettings(), seed: 0, temperature: 0, tokens_per_second: 5, inspect: true, pace: /** @type {const} */ ("token"), system: "x" };
  assert.deepEqual(wireSettings(chosen), { seed: 0, temperature: 0, tokens_per_second: 5, logprobs: 5 });
});

test("a number's field takes what is within its limits, with a comma too", () => {
  assert.deepEqual(readNumber("temperature", " 0,5 "), { value: 0.5 });
  assert.deepEqual(readNumber("seed", ""), { value: null });
  for (const text of ["3", "-1", "NaN", "Infinity", "1e", "0x"]) assert.deepEqual(readNumber("temperature", text), { wrong: true }, text);
  assert.deepEqual(readNumber("seed", "1.5"), { wrong: true });
  assert.deepEqual(readSettings(null), { settings: plainSettings(), refused: [] });
});

test("search finds all words in any case and without accents, and marks them", () => {
  const conversation = sample();
  assert.ok(found(conversation, wordsOf("WHY two")));
  assert.equal(found(conversation, wordsOf("why three")), null);
  assert.deepEqual(marked("Crème and creme", wordsOf("creme")), [
    { text: "Crème", hit: true }, { text: " and ", hit: false }, { text: "creme", hit: true },
  ]);
  assert.deepEqual(wordsOf("   "), []);
});

test("a passage keeps every character of the text it shows", () => {
  const long = { ...sample(), title: "t" };
  Object.assign(long.turns[0]?.replies[0] ?? {}, { text: `${"before ".repeat(40)}needle${" after".repeat(40)}` });
  const pieces = found(long, wordsOf("needle")) ?? [];
  assert.deepEqual(pieces.filter(({ hit }) => hit).map(({ text }) => text), ["needle"]);
  assert.ok(pieces.map(({ text }) => text).join("").length < 130);
});
