/**
 * The chat as a whole: which conversation is open, which reply is on its way, and over which wire. It
 * turns wishes (ask, ask again, stop, new chat) and news (events, connections, readiness) into changes
 * of the conversation, and tells the page what to show. It refuses to know elements.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {import("./reply.js").Mode} Mode
 * @typedef {object} Stage what the page offers
 * @property {(conversation: Conversation) => void} show
 * @property {(replyId: string) => import("./exchange.js").View} view
 * @property {(live: boolean) => void} live
 * @property {(topic: "connection" | "loading" | "storage" | "network", text: string) => void} tell
 * @property {(text: string) => void} announce
 */

import { afterPaint } from "../measure/paint.js";
import { countWords } from "../measure/words_read.js";
import { randomId } from "../stream/identity.js";
import { say } from "../words.js";
import { liveReply, messagesFor, newConversation, withReply, withTurn } from "./conversation.js";
import { Exchange } from "./exchange.js";
import { recall, remember, tabStorage } from "./remembered.js";
import { isLive, newReply } from "./reply.js";

/** A reply is stored at its turning points and about so often while it grows. */
const SAVE_EVERY_MS = 1000;

export class Session {
  /** @type {Conversation} */
  conversation = newConversation(randomId(), Date.now());
  /** @type {Exchange | null} */
  #exchange = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #saving;
  /** @type {import("../stream/socket_wire.js").Wire | null} */
  #wire = null;

  /**
   * @param {import("./store.js").ConversationStore} store
   * @param {import("../stream/readiness.js").Readiness} readiness
   * @param {Stage} stage
   */
  constructor(store, readiness, stage) {
    this.store = store;
    this.readiness = readiness;
    this.stage = stage;
  }

  /** @param {import("../stream/socket_wire.js").Wire} wire */
  use(wire) {
    this.#wire = wire;
  }

  /** Open the conversation of this tab again, and go on with a reply that was on its way. */
  async restore() {
    const id = recall("conversation", "", tabStorage());
    if (id) await this.open(id);
    else this.#opened();
  }

  /** @param {string} id of a stored conversation */
  async open(id) {
    const stored = await this.store.load(id).catch(() => undefined);
    if (stored) this.conversation = stored;
    this.#opened();
    const reply = liveReply(this.conversation);
    if (!reply) return;
    reply.flags.resumed = true;
    const clicked_ms = performance.now() - Math.max(0, Date.now() - reply.asked_epoch_ms);
    const turn = /** @type {import("./conversation.js").Turn} */ (this.conversation.turns.at(-1));
    this.#start(reply, turn.id, clicked_ms);
  }

  /** Begin an empty conversation; a reply on its way is stopped. */
  startNew() {
    this.stop();
    this.#exchange = null;
    this.conversation = newConversation(randomId(), Date.now());
    this.#opened();
  }

  /** @param {string} question @param {Mode} mode @param {number} clicked_ms */
  ask(question, mode, clicked_ms) {
    if (this.isLive) return;
    const turn = { id: randomId(), question, replies: [newReply(randomId(), mode, Date.now())] };
    this.conversation = withTurn(this.conversation, turn);
    this.#start(/** @type {Reply} */ (turn.replies[0]), turn.id, clicked_ms);
  }

  /** Ask the question of this reply once more. @param {string} replyId @param {Mode} mode @param {number} clicked_ms */
  askAgain(replyId, mode, clicked_ms) {
    const turn = this.conversation.turns.find(({ replies }) => replies.some((reply) => reply.id === replyId));
    if (this.isLive || !turn) return;
    const reply = newReply(randomId(), mode, Date.now());
    this.conversation = withReply(this.conversation, turn.id, reply);
    this.#start(reply, turn.id, clicked_ms);
  }

  stop() {
    this.#exchange?.stop();
  }

  get isLive() {
    return this.#exchange !== null && isLive(this.#exchange.reply);
  }

  /** @param {Reply} reply @returns {{ elapsed(): number, waitsForModel(): boolean }} */
  timeOf(reply) {
    const mine = () => (this.#exchange?.reply === reply ? this.#exchange : null);
    return {
      elapsed: () => performance.now() - (mine()?.clicked_ms ?? performance.now()),
      waitsForModel: () => reply.state === "asking" && !this.readiness.isReady,
    };
  }

  /** @param {import("../events.js").ServerEvent} event */
  hear(event) {
    if (event.type === "error" && event.code === "engine_loading") {
      this.readiness.isReady = false;
      this.readiness.watch();
    }
    if (event.type === "error" && event.code === "not_found") event.message ||= say("nothingToResume");
    this.#exchange?.hear(event);
    if (event.type === "delta" && this.isLive) this.#saveSoon();
  }

  /** The wire is there (again): go on with what was on its way. */
  connected() {
    if (this.isLive && this.readiness.isReady) this.#exchange?.begin();
  }

  modelIsReady() {
    this.#exchange?.modelIsReady();
  }

  visibilityChanged() {
    this.#exchange?.visibilityChanged();
  }

  /** Store now: the page is going away. */
  leave() {
    if (this.isLive) this.#save();
  }

  // Private

  #opened() {
    remember("conversation", this.conversation.id, tabStorage());
    this.stage.show(this.conversation);
    this.stage.live(this.isLive);
  }

  /** @param {Reply} reply @param {string} turnId @param {number} clicked_ms */
  #start(reply, turnId, clicked_ms) {
    const messages = messagesFor(this.conversation, turnId);
    this.stage.show(this.conversation);
    let begun = false;
    const exchange = new Exchange(reply, messages, clicked_ms, this.stage.view(reply.id), {
      send: (frame) => this.#wire?.send(frame) ?? false,
      now: () => performance.now(),
      afterPaint: (tell) => {
        if (!begun) this.stage.announce(say("startedSay"));
        begun = true;
        afterPaint(tell);
      },
      hidden: () => document.hidden,
      changed: () => this.#save(),
      ended: () => this.#ended(reply),
    });
    this.#exchange = exchange;
    if (this.readiness.isReady) exchange.begin();
    else this.readiness.watch();
    this.stage.view(reply.id).update();
    this.stage.live(true);
    this.#save();
  }

  /** @param {Reply} reply */
  #ended(reply) {
    this.stage.live(false);
    const outcome = { done: "doneSay", stopped: "stoppedSay", failed: "failedSay" }[/** @type {"done"} */ (reply.state)];
    this.stage.announce(say(outcome, { count: countWords(reply.text) }));
    // An engine that was lost is loaded anew; the next question waits for it.
    if (reply.error?.retryable) this.readiness.watch();
  }

  #saveSoon() {
    this.#saving ??= setTimeout(() => this.#save(), SAVE_EVERY_MS);
  }

  #save() {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    this.conversation.updated_epoch_ms = Date.now();
    this.store.save(this.conversation).then(
      () => this.stage.tell("storage", ""),
      (error) => this.stage.tell("storage", say("notSaved", { why: error?.name ?? "?" })),
    );
  }
}
