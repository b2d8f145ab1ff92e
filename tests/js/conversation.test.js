import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ROOT, endOf, newConversation, rooted, shownPath, titleOf, withChoice, withReply, withTitle, withTurn, withTurnsBack, withoutTurn,
} from "../../static/js/chat/conversation.js";
import { betterReply, mergeConversations } from "../../static/js/chat/merge.js";
import { bytesOf, messagesFor } from "../../static/js/chat/question.js";
import { newReply } from "../../static/js/chat/reply.js";

/** @typedef {import("../../static/js/chat/conversation.js").Conversation} Conversation */
/** @typedef {import("../../static/js/chat/reply.js").Reply} Reply */

/** @param {string} id @param {string} [text] @param {Partial<Reply>} [fields] @returns {Reply} */
const reply = (id, text = id, fields = {}) => ({ ...newReply(id, "streamed", 0), state: "done", text, ...fields });
/** @param {string} id @param {string} parent @param {Reply[]} replies @param {string} [question] */
const turn = (id, parent, replies, question = `q-${id}`) => ({ id, parent, question, replies });

/** q1 → r1 → q2 → r2, and r1b beside r1 with its own sequel q3 → r3. */
function forked() {
  let conversation = withTurn(newConversation("c", 0), turn("q1", ROOT, [reply("r1")]));
  conversation = withTurn(conversation, turn("q2", "r1", [reply("r2")]));
  conversation = withReply(conversation, "q1", reply("r1b"));
  return withTurn(conversation, turn("q3", "r1b", [reply("r3")]));
}

/** @param {Conversation} conversation */
const way = (conversation) => shownPath(conversation).map((step) => `${step.turn.id}:${step.reply?.id}`).join(" ");
/** @param {Conversation} conversation @param {string} id */
const turnNamed = (conversation, id) => /** @type {any} */ (conversation.turns.find((each) => each.id === id));

test("the newest branch is shown, and every version has its own sequel", () => {
  const conversation = forked();
  assert.equal(way(conversation), "q1:r1b q3:r3");
  assert.equal(way(withChoice(conversation, "q1", "r1")), "q1:r1 q2:r2");
  assert.equal(endOf(conversation), "r3");
  assert.equal(endOf(newConversation("c", 0)), ROOT);
});

test("an edited question is a sibling, and the old one stays reachable", () => {
  const conversation = withTurn(forked(), turn("q1x", ROOT, [reply("rx")]));
  assert.equal(way(conversation), "q1x:rx");
  assert.deepEqual(shownPath(conversation)[0]?.siblings.map(({ id }) => id), ["q1", "q1x"]);
  assert.equal(way(withChoice(conversation, ROOT, "q1")), "q1:r1b q3:r3");
});

test("a choice that leads nowhere falls back to the newest branch", () => {
  assert.equal(way(withChoice(forked(), "q1", "gone")), "q1:r1b q3:r3");
  assert.equal(way({ ...forked(), chosen: {} }), "q1:r1b q3:r3");
});

test("a tree that bites its own tail is still walked to an end", () => {
  const conversation = withTurn(newConversation("c", 0), turn("a", ROOT, [reply("r")]));
  const biting = withTurn(conversation, turn("b", "r", [reply("r")]));
  assert.ok(shownPath(biting).length <= 2);
  assert.ok(messagesFor(biting, turnNamed(biting, "b"), "").length <= 5);
});

test("deleting a turn takes what followed it, and undo brings all of it back under new names", () => {
  const before = forked();
  const { conversation, gone } = withoutTurn(before, "q1");
  assert.deepEqual(gone.map(({ id }) => id).sort(), ["q1", "q2", "q3"]);
  assert.equal(way(conversation), "");
  let count = 0;
  const back = withTurnsBack(conversation, gone, () => `new${(count += 1)}`);
  assert.deepEqual(shownPath(back).map(({ turn: { question } }) => question), ["q-q1", "q-q3"]);
  assert.equal(way(mergeConversations(conversation, back)), way(back));
});

test("turns that hang on nothing are left out of a file", () => {
  const conversation = withTurn(forked(), turn("lost", "nobody", [reply("x")]));
  assert.deepEqual(rooted(conversation).turns.map(({ id }) => id), ["q1", "q2", "q3"]);
});

test("the model is told the shown way to this question, and no turn that got no word", () => {
  let conversation = withTurn(forked(), turn("q4", "r3", [reply("r4", "", { state: "failed" })]));
  conversation = withTurn(conversation, turn("q5", "r4", [reply("r5")]));
  const texts = messagesFor(conversation, turnNamed(conversation, "q5"), "").map(({ role, content }) => `${role[0]}:${content}`);
  assert.deepEqual(texts, ["u:q-q1", "a:r1b", "u:q-q3", "a:r3", "u:q-q5"]);
  assert.deepEqual(messagesFor(conversation, turnNamed(conversation, "q2"), "").map(({ content }) => content), ["q-q1", "r1", "q-q2"]);
});

test("a system prompt comes first, and a reply that is gone on with comes last, byte by byte", () => {
  const conversation = forked();
  const text = "half a word and a space ";
  const messages = messagesFor(conversation, turnNamed(conversation, "q3"), "Be brief.", text);
  assert.deepEqual(messages[0], { role: "system", content: "Be brief." });
  assert.deepEqual(messages.at(-1), { role: "assistant", content: text });
  assert.deepEqual(messages.at(-2), { role: "user", content: "q-q3" });
});

test("a long conversation loses its oldest turns whole, never the question or the system prompt", () => {
  let conversation = newConversation("c", 0);
  let parent = ROOT;
  for (let i = 0; i < 50; i += 1) {
    conversation = withTurn(conversation, turn(`t${i}`, parent, [reply(`r${i}`, "x")]));
    parent = `r${i}`;
  }
  const messages = messagesFor(conversation, turnNamed(conversation, "t49"), "sys");
  assert.ok(messages.length <= 64);
  assert.deepEqual(messages[0], { role: "system", content: "sys" });
  assert.equal(messages[1]?.role, "user");
  assert.deepEqual(messages.at(-1), { role: "user", content: "q-t49" });
});

test("what is sent fits into one frame of the wire in every script", () => {
  let conversation = newConversation("c", 0);
  let parent = ROOT;
  for (let i = 0; i < 20; i += 1) {
    conversation = withTurn(conversation, turn(`t${i}`, parent, [reply(`r${i}`, "आकाश ".repeat(1000))]));
    parent = `r${i}`;
  }
  const messages = messagesFor(conversation, turnNamed(conversation, "t19"), "");
  assert.ok(bytesOf(messages) <= 60_000);
  assert.ok(messages.length >= 3);
});

test("a title is the reader's, else the first question on one short line", () => {
  const conversation = withTurn(newConversation("c", 0), turn("t", ROOT, [], "a\n b 😀".repeat(40)));
  assert.equal(Array.from(titleOf(conversation)).length, 60);
  assert.ok(!titleOf(conversation).includes("\n"));
  assert.equal(titleOf(withTitle(conversation, "  Mine ", 1)), "Mine");
});

test("two tabs' turns and versions are all kept, whoever stores first", () => {
  const base = { ...forked(), revision: 3 };
  const here = withTurn(base, turn("here", "r3", [reply("rh")]));
  const there = { ...withReply(withTurn(base, turn("there", "r3", [reply("rt")])), "q3", reply("r3b")), revision: 4 };
  for (const merged of [mergeConversations(there, here), mergeConversations(here, there)]) {
    assert.deepEqual(merged.turns.map(({ id }) => id).sort(), ["here", "q1", "q2", "q3", "there"]);
    assert.deepEqual(turnNamed(merged, "q3").replies.map((/** @type {Reply} */ each) => each.id), ["r3", "r3b"]);
    assert.equal(merged.revision, 4);
  }
  assert.equal(endOf(mergeConversations(there, here)), "rh");
});

test("what one tab deleted does not come back from the other", () => {
  const base = forked();
  const { conversation } = withoutTurn(base, "q3");
  assert.equal(turnNamed(mergeConversations(base, conversation), "q3"), undefined);
  assert.equal(turnNamed(mergeConversations(conversation, base), "q3"), undefined);
});

test("of a title and of settings the later choice counts", () => {
  const old = withTitle(forked(), "old", 10);
  const young = withTitle(forked(), "young", 20);
  assert.equal(mergeConversations(young, old).title, "young");
  assert.equal(mergeConversations(old, young).title, "young");
});

test("of a reply the copy counts that is over, was measured in one page, and has more text", () => {
  const running = reply("r", "half", { state: "reading", seq: 5 });
  const over = reply("r", "whole", { seq: 9 });
  const followed = reply("r", "whole", { seq: 9, flags: { ...over.flags, resumed: true } });
  const further = reply("r", "half and more", { state: "reading", seq: 7 });
  for (const [a, b, better] of [[running, over, over], [followed, over, over], [running, further, further]]) {
    assert.equal(betterReply(/** @type {Reply} */ (a), /** @type {Reply} */ (b)), better);
    assert.equal(betterReply(/** @type {Reply} */ (b), /** @type {Reply} */ (a)), better);
  }
});
