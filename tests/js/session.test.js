import assert from "node:assert/strict";
import { test } from "node:test";
import { ROOT, newConversation, withTurn } from "../../static/js/chat/conversation.js";
import { newReply } from "../../static/js/chat/reply.js";
import { Session } from "../../static/js/chat/session.js";
import { wordsOf } from "../../static/js/components/files.js";
import { say, speak } from "../../static/js/words.js";

await speak(["common", "reply", "talk"], "hi");

/** @typedef {import("../../static/js/chat/conversation.js").Conversation} Conversation */

/** A session over a store that is a map, with one conversation of one finished turn in it. */
async function begun() {
  /** @type {Map<string, Conversation>} */
  const kept = new Map();
  const store = {
    /** @param {Conversation} conversation */
    async save(conversation) {
      kept.set(conversation.id, { ...conversation, revision: conversation.revision + 1 });
      return kept.get(conversation.id);
    },
    /** @param {string} id */
    load: async (id) => kept.get(id),
  };
  const stage = { show() {}, live() {}, view: () => view, renew() {}, tell() {}, announce() {}, listChanged() {}, removedElsewhere() {} };
  const session = new Session(/** @type {any} */ (store), /** @type {any} */ ({ listen() {}, tell() {} }),
    /** @type {any} */ ({ isReady: true, watch() {} }), stage);
  const reply = { ...newReply("r", "streamed", 0), state: /** @type {const} */ ("done"), text: "An answer" };
  await store.save(withTurn(newConversation("first", 0), { id: "t", parent: ROOT, question: "Why?", replies: [reply] }));
  await session.open("first");
  /** @param {string} id */
  const questions = (id) => kept.get(id)?.turns.map(({ question }) => question);
  return { session, kept, store, questions };
}

const view = { paint() {}, update() {}, finish() {} };
/** Everything that waits for nothing but promises has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("undo brings a deleted question back, also when its chat is on the page no more", async () => {
  for (const elsewhere of [false, true]) {
    const { session, store, questions } = await begun();
    const undo = session.removeTurn("t");
    await settled();
    assert.deepEqual(questions("first"), []);
    if (elsewhere) {
      await store.save(withTurn(newConversation("second", 0), { id: "u", parent: ROOT, question: "And?", replies: [] }));
      await session.open("second");
    }
    await undo();
    await settled();
    assert.deepEqual(questions("first"), ["Why?"]);
    assert.equal(session.conversation.id, elsewhere ? "second" : "first");
  }
});

test("undo in an empty chat goes back to the one that has the question again", async () => {
  const { session, questions } = await begun();
  const undo = session.removeTurn("t");
  await settled();
  session.startNew();
  await undo();
  assert.deepEqual(questions("first"), ["Why?"]);
  assert.deepEqual([session.conversation.id, session.conversation.turns.length], ["first", 1]);
});

test("a reply that the server has no more is told in the reader's words, not in the server's", async () => {
  const { session } = await begun();
  const event = { type: /** @type {const} */ ("error"), code: "not_found", message: "no reply 'r'", retryable: false, id: "r" };
  /** @type {any} */
  let heard;
  session.live.hear = (told) => void (heard = told);
  session.hear(event);
  assert.equal(heard.message, say("nothingToResume"));
});

test("a part of the page that could not be fetched is not taken for storage that failed", () => {
  assert.equal(wordsOf(new TypeError("Failed to fetch dynamically imported module")), say("fetchAgain"));
  assert.ok(wordsOf(new DOMException("full", "QuotaExceededError")).includes("QuotaExceededError"));
});

test("a question goes out before the page is changed for it", async (t) => {
  const kept = globalThis.document;
  t.after(() => (globalThis.document = kept));
  globalThis.document = /** @type {any} */ ({ hidden: false });
  const { session } = await begun();
  /** @type {string[]} */
  const order = [];
  session.use({ send: ({ type }) => (order.push(type), true), probe() {}, close() {} });
  session.stage.show = () => void order.push("show");
  session.stage.view = () => (order.push("view"), view);
  session.ask("And then?", "streamed", 0);
  assert.deepEqual(order, ["start", "view", "show"]);
  assert.ok(session.isLive);
  await settled();
});
