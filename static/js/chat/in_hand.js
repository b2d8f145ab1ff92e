/**
 * The conversations that this tab has in hand: the shown one, and those in which a reply is on its way.
 * Changes go through here, so that they are shown and stored, and what another tab has stored is
 * joined in without exchanging the records that running replies write into. It refuses to know wires
 * and what a change means.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {object} Around
 * @property {() => void} show the shown conversation has changed
 * @property {(reply: Reply) => void} renew another tab had the better record of this reply
 * @property {(replyId: string) => boolean} isRunning whether this tab is receiving it
 * @property {(conversation: Conversation) => void} joined another tab has added something
 * @property {(problem: unknown) => void} tell about storing; null: it works
 * @property {() => void} listChanged
 * @property {() => void} removedElsewhere the shown conversation was deleted in another tab
 */

import { liveReplies } from "./conversation.js";
import { Keeping } from "./keeping.js";
import { mergeConversations } from "./merge.js";

export class InHand {
  /** @type {Map<string, Conversation>} */
  #held = new Map();
  #shown = "";

  /**
   * @param {import("./store.js").ConversationStore} store
   * @param {import("./tabs.js").Tabs} tabs
   * @param {Around} around
   */
  constructor(store, tabs, around) {
    this.around = around;
    this.keeping = new Keeping(store, tabs, {
      inHand: (id) => this.#held.get(id),
      adopt: (stored) => this.#adopt(stored),
      removed: (id) => this.#removedElsewhere(id),
      tell: around.tell,
      listChanged: around.listChanged,
    });
  }

  /** @returns {Conversation} the one on the page */
  get shown() {
    return /** @type {Conversation} */ (this.#held.get(this.#shown));
  }

  /** @param {string} id @returns {Promise<Conversation | undefined>} in hand or stored */
  async find(id) {
    return this.#held.get(id) ?? (await this.keeping.load(id));
  }

  /** Put it on the page; others stay in hand only while something is on its way in them. @param {Conversation} conversation */
  take(conversation) {
    for (const [id, other] of this.#held) if (!this.#isBusy(other)) this.#held.delete(id);
    this.#held.set(conversation.id, conversation);
    this.#shown = conversation.id;
    this.around.show();
  }

  /** @param {Conversation} conversation as it shall be now @param {boolean} [save] */
  change(conversation, save = true) {
    this.#held.set(conversation.id, conversation);
    if (conversation.id === this.#shown) this.around.show();
    if (save) this.keeping.save(conversation.id);
  }

  /** Change it wherever it is: in hand, or only stored. Raises the store's error.
   * @param {string} id @param {(now: Conversation) => Conversation} changed */
  async alter(id, changed) {
    const now = await this.find(id);
    if (!now) return;
    if (this.#held.has(id)) this.change(changed(now));
    else await this.keeping.put(changed(now));
  }

  /** Forget it, before it is deleted. @param {string} id */
  drop(id) {
    this.#held.delete(id);
  }

  /** Store it now, in which this reply is. @param {Reply} reply */
  saveWith(reply) {
    for (const [id, { turns }] of this.#held) if (turns.some(({ replies }) => replies.includes(reply))) this.keeping.save(id);
  }

  /** Something grows: store it soon. */
  saveBusySoon() {
    for (const [id, conversation] of this.#held) if (this.#isBusy(conversation)) this.keeping.saveSoon(id);
  }

  /** The page is going away: store what grows now. */
  saveBusy() {
    for (const [id, conversation] of this.#held) if (this.#isBusy(conversation)) this.keeping.save(id);
  }

  // Private

  /** @param {Conversation} conversation */
  #isBusy(conversation) {
    return liveReplies(conversation).some(({ id }) => this.around.isRunning(id));
  }

  /** @param {Conversation} stored */
  #adopt(stored) {
    const mine = this.#held.get(stored.id);
    if (!mine) return;
    const merged = mergeConversations(stored, mine);
    const own = new Map(mine.turns.flatMap(({ replies }) => replies.map((reply) => [reply.id, reply])));
    let renewed = false;
    const joined = (/** @type {Reply} */ reply) => {
      const [kept, isNew] = this.#joined(reply, own.get(reply.id));
      renewed ||= isNew;
      return kept;
    };
    merged.turns = merged.turns.map((turn) => ({ ...turn, replies: turn.replies.map(joined) }));
    this.#held.set(merged.id, merged);
    // After a save of our own alone there is nothing new to see.
    if (!renewed && stored.revision === mine.revision + 1 && merged.turns.length === mine.turns.length) return;
    if (merged.id === this.#shown) this.around.show();
    this.around.joined(merged);
  }

  /** The record that stays is our own, for views and a running reply know it; its content may be the other's.
   * @param {Reply} better @param {Reply | undefined} own @returns {[Reply, boolean]} it, and whether its content is another's */
  #joined(better, own) {
    if (!own || own === better) return [own ?? better, false];
    if (this.around.isRunning(own.id)) return [own, false];
    Object.assign(own, better);
    // Its view is taken down, and comes back when the conversation is shown.
    this.around.renew(own);
    return [own, true];
  }

  /** @param {string} id */
  #removedElsewhere(id) {
    this.#held.delete(id);
    if (id === this.#shown) this.around.removedElsewhere();
  }
}
