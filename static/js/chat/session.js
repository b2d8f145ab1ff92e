/**
 * The chat as a whole: which conversation is open, which replies are on their way, and over which wire.
 * It turns wishes (ask, edit, go on, choose a version, delete) and news (events, connections, other
 * tabs) into changes of conversations, and tells the page what to show. It refuses to know elements
 * and how anything is stored.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {import("./reply.js").Mode} Mode
 * @typedef {object} Stage what the page offers
 * @property {(conversation: Conversation) => void} show
 * @property {(reply: Reply) => import("./exchange.js").View} view
 * @property {(reply: Reply) => void} renew another tab had the better record of this reply
 * @property {(live: boolean) => void} live
 * @property {(topic: "storage", text: string) => void} tell
 * @property {(text: string) => void} announce
 * @property {() => void} listChanged
 * @property {() => void} removedElsewhere
 */

import { countWords } from "../measure/words_read.js";
import { recall, remember, tabStorage } from "../remembered.js";
import { randomId } from "../stream/identity.js";
import { say } from "../words.js";
import {
  endOf, liveReplies, newConversation, turnOf, withChoice, withReply, withSettings, withTurn, withTurnsBack, withoutTurn,
} from "./conversation.js";
import { InHand } from "./in_hand.js";
import { LiveReplies } from "./live_replies.js";
import { recallSettings } from "./preferences.js";
import { messagesFor } from "./question.js";
import { newReply } from "./reply.js";

export class Session {
  /** @type {import("../stream/socket_wire.js").Wire | null} */
  #wire = null;

  /**
   * @param {import("./store.js").ConversationStore} store
   * @param {import("./tabs.js").Tabs} tabs
   * @param {import("../stream/readiness.js").Readiness} readiness
   * @param {Stage} stage
   */
  constructor(store, tabs, readiness, stage) {
    this.readiness = readiness;
    this.stage = stage;
    this.live = new LiveReplies({
      send: (frame) => this.#wire?.send(frame) ?? false,
      modelReady: () => readiness.isReady,
      firstPaint: () => stage.announce(say("startedSay")),
      changed: (reply) => this.hand.saveWith(reply),
      ended: (reply) => this.#ended(reply),
    });
    this.hand = new InHand(store, tabs, {
      show: () => this.#show(),
      renew: stage.renew,
      isRunning: (id) => this.live.has(id),
      joined: (conversation) => this.#resume(conversation, true),
      tell: (problem) => stage.tell("storage", problem === null ? "" : say("notSaved", { why: problem instanceof Error ? problem.name : "?" })),
      listChanged: stage.listChanged,
      removedElsewhere: () => (this.startNew(), stage.removedElsewhere()),
    });
  }

  /** @returns {Conversation} the one on the page */
  get conversation() {
    return this.hand.shown;
  }

  /** @returns {boolean} whether a reply of the shown conversation is on its way */
  get isLive() {
    return this.#liveHere.length > 0;
  }

  /** @param {import("../stream/socket_wire.js").Wire} wire */
  use(wire) {
    this.#wire = wire;
  }

  /** Open the conversation of this tab again, and go on with a reply that was on its way. */
  async restore() {
    const id = recall("conversation", "", tabStorage());
    if (!id || !(await this.open(id, false))) this.startNew();
  }

  /** @param {string} id of a stored conversation @param {boolean} [along] another page asked for what is on its way
   * @returns {Promise<boolean>} whether it is there */
  async open(id, along = true) {
    const conversation = await this.hand.find(id);
    if (!conversation) return false;
    this.hand.take(conversation);
    this.#resume(conversation, along);
    return true;
  }

  /** Begin an empty conversation; a reply on its way goes on in its own. @param {Conversation["settings"]} [settings] */
  startNew(settings = recallSettings()) {
    this.hand.take(newConversation(randomId(), Date.now(), settings));
  }

  /** @param {string} question @param {Mode} mode @param {number} clicked_ms */
  ask(question, mode, clicked_ms) {
    this.#askBelow(endOf(this.conversation), question, mode, clicked_ms);
  }

  /** Ask a changed question beside the old one. @param {string} turnId @param {string} question @param {Mode} mode @param {number} clicked_ms */
  edit(turnId, question, mode, clicked_ms) {
    const turn = this.conversation.turns.find(({ id }) => id === turnId);
    if (turn) this.#askBelow(turn.parent, question, mode, clicked_ms);
  }

  /** Ask the question of this reply once more. @param {string} replyId @param {Mode} mode @param {number} clicked_ms */
  askAgain(replyId, mode, clicked_ms) {
    this.#addVersion(replyId, this.#newReply(mode), clicked_ms);
  }

  /** Go on where this reply ends, as a version that begins with its text. @param {string} replyId @param {Mode} mode @param {number} clicked_ms */
  goOn(replyId, mode, clicked_ms) {
    const text = turnOf(this.conversation, replyId)?.replies.find(({ id }) => id === replyId)?.text;
    if (text) this.#addVersion(replyId, { ...this.#newReply(mode), text, begun: text.length, continues: replyId }, clicked_ms);
  }

  stop() {
    for (const { id } of this.#liveHere) this.live.stop(id);
  }

  /** @param {string} fork a parent or a turn @param {string} branch */
  choose(fork, branch) {
    this.hand.change(withChoice(this.conversation, fork, branch));
  }

  /** An empty conversation is not stored for its settings alone. @param {Conversation["settings"]} settings */
  settle(settings) {
    this.hand.change(withSettings(this.conversation, settings, Date.now()), this.conversation.turns.length > 0);
  }

  /** Delete a turn and what follows it. @param {string} turnId @returns {() => Promise<void>} undo, wherever the reader is by then */
  removeTurn(turnId) {
    const { conversation, gone } = withoutTurn(this.conversation, turnId);
    for (const { id } of gone.flatMap(({ replies }) => replies)) this.live.stop(id);
    this.hand.change(conversation);
    return async () => {
      await this.hand.alter(conversation.id, (now) => withTurnsBack(now, gone, randomId)).catch(this.hand.around.tell);
      if (this.conversation.turns.length === 0) await this.open(conversation.id);
    };
  }

  /** @param {import("../events.js").ServerEvent} event */
  hear(event) {
    if (event.type === "error" && event.code === "engine_loading") {
      this.readiness.isReady = false;
      this.readiness.watch();
    }
    if (event.type === "error" && event.code === "not_found") event.message = say("nothingToResume");
    this.live.hear(event);
    if (event.type === "delta") this.hand.saveBusySoon();
  }

  // Private

  get #liveHere() {
    return liveReplies(this.conversation).filter(({ id }) => this.live.has(id));
  }

  #show() {
    remember("conversation", this.conversation.id, tabStorage());
    this.stage.show(this.conversation);
    this.stage.live(this.isLive);
  }

  /** @param {Mode} mode @returns {Reply} */
  #newReply(mode) {
    return { ...newReply(randomId(), mode, Date.now()), settings: { ...this.conversation.settings } };
  }

  /** @param {string} parent @param {string} question @param {Mode} mode @param {number} clicked_ms */
  #askBelow(parent, question, mode, clicked_ms) {
    if (this.isLive) return;
    const reply = this.#newReply(mode);
    const turn = { id: randomId(), parent, question, replies: [reply] };
    this.#start(withTurn(this.conversation, turn), reply, clicked_ms);
  }

  /** @param {string} besideId @param {Reply} reply @param {number} clicked_ms */
  #addVersion(besideId, reply, clicked_ms) {
    const turn = turnOf(this.conversation, besideId);
    if (turn && !this.isLive) this.#start(withReply(this.conversation, turn.id, reply), reply, clicked_ms);
  }

  /** First the question goes out; the page changes while the server works on it.
   * @param {Conversation} conversation that has the reply @param {Reply} reply @param {number} clicked_ms */
  #start(conversation, reply, clicked_ms) {
    this.#begin(conversation, reply, clicked_ms);
    this.hand.change({ ...conversation, updated_epoch_ms: Date.now() });
    if (!this.readiness.isReady) this.readiness.watch();
  }

  /** Receive what is on its way and not received here. @param {Conversation} conversation @param {boolean} along */
  #resume(conversation, along) {
    for (const reply of liveReplies(conversation)) {
      if (this.live.has(reply.id)) continue;
      Object.assign(reply.flags, { resumed: true, along });
      this.#begin(conversation, reply, performance.now() - Math.max(0, Date.now() - reply.asked_epoch_ms));
    }
    this.stage.live(this.isLive);
  }

  /** @param {Conversation} conversation @param {Reply} reply @param {number} clicked_ms */
  #begin(conversation, reply, clicked_ms) {
    const turn = turnOf(conversation, reply.id);
    if (!turn) return;
    const messages = messagesFor(conversation, turn, reply.settings?.system ?? "", reply.continues ? reply.text : "");
    this.live.begin(reply, messages, clicked_ms, () => this.stage.view(reply));
  }

  /** @param {Reply} reply */
  #ended(reply) {
    this.stage.live(this.isLive);
    const outcome = { done: "doneSay", stopped: "stoppedSay", failed: "failedSay" }[/** @type {"done"} */ (reply.state)];
    this.stage.announce(say(outcome, { count: countWords(reply.text) }));
    // An engine that was lost is loaded anew; the next question waits for it.
    if (reply.error?.retryable) this.readiness.watch();
  }
}
