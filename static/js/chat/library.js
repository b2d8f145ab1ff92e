/**
 * All conversations of this browser: the list, search, renaming, deleting with undo, export and import.
 * Those that are open in this tab are changed where they are in hand; the others in the store.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {import("./store.js").Summary} Summary
 * @typedef {{ summary: Summary, passage: import("./search.js").Piece[] | null }} Entry
 */

import { randomId } from "../stream/identity.js";
import { withTitle } from "./conversation.js";
import { found, wordsOf } from "./search.js";

export class Library {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.hand = session.hand;
    this.store = session.hand.keeping.store;
  }

  /**
   * @param {string} query "" for all
   * @param {() => boolean} outdated asked now and then; true: another query has come
   * @returns {Promise<Entry[] | null>} the newest first; null when outdated
   */
  async list(query, outdated = () => false) {
    const words = wordsOf(query);
    const summaries = await this.store.list();
    if (words.length === 0) return outdated() ? null : summaries.map((summary) => ({ summary, passage: null }));
    /** @type {Map<string, import("./search.js").Piece[]>} */
    const passages = new Map();
    await this.store.each((conversation) => {
      const passage = found(conversation, words);
      if (passage) passages.set(conversation.id, passage);
      return outdated();
    });
    if (outdated()) return null;
    return summaries.flatMap((summary) => {
      const passage = passages.get(summary.id);
      return passage ? [{ summary, passage }] : [];
    });
  }

  /** @param {string} id @param {string} title */
  async rename(id, title) {
    await this.hand.alter(id, (now) => withTitle(now, title, Date.now()));
  }

  /** @param {string} id @returns {Promise<() => Promise<void>>} undo */
  async remove(id) {
    const kept = await this.hand.find(id);
    for (const { replies } of kept?.turns ?? []) for (const reply of replies) this.session.live.stop(reply.id);
    const wasShown = this.hand.shown.id === id;
    this.hand.drop(id);
    if (wasShown) this.session.startNew();
    await this.hand.keeping.remove(id);
    return async () => {
      if (kept) await this.hand.keeping.put({ ...kept, revision: 0 });
      if (wasShown && this.hand.shown.turns.length === 0) await this.session.open(id);
    };
  }

  /** @param {string} [id] of one; without: all of them @returns {Promise<Conversation[]>} */
  async gather(id) {
    if (id !== undefined) {
      const one = await this.hand.find(id);
      return one ? [one] : [];
    }
    /** @type {Conversation[]} */
    const all = [];
    await this.store.each((conversation) => void all.push(conversation));
    return all;
  }

  /** @param {string} text of a file @returns {Promise<number>} how many came in. Raises Unreadable or the store's error */
  async takeIn(text) {
    const { fromJson } = await import("./archive.js");
    const here = new Set((await this.store.list()).map(({ id }) => id));
    const conversations = fromJson(text, (id) => here.has(id), randomId);
    for (const conversation of conversations) await this.hand.keeping.put(conversation);
    return conversations.length;
  }
}
