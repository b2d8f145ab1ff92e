/**
 * Conversations in the browser's IndexedDB. A save compares the revision within its transaction: what
 * another tab stored meanwhile is merged, never overwritten. The list reads small summaries, so it is
 * quick with many conversations. Storing can fail (private windows, a full disk): every call says so
 * by a rejected promise, and the page goes on without it.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {{ id: string, title: string, updated_epoch_ms: number, questions: number }} Summary
 */

import { titleOf } from "./conversation.js";
import { mergeConversations } from "./merge.js";
import { upgraded } from "./records.js";

const NAME = "firstword";
const VERSION = 2;
const WHOLE = "conversations";
const BRIEF = "summaries";

export class ConversationStore {
  /** @type {Promise<IDBDatabase> | null} */
  #database = null;

  /** @param {string} [name] of the database */
  constructor(name = NAME) {
    this.name = name;
  }

  /**
   * Store it, together with what other tabs have stored of it.
   * @param {Conversation} conversation
   * @returns {Promise<Conversation | undefined>} as it is stored now: with a new revision, perhaps with more
   *   turns; none: it was stored once and is no more, so another tab has deleted it, and it stays deleted
   */
  async save(conversation) {
    const change = await this.#change("readwrite");
    const stored = await finished(change.objectStore(WHOLE).get(conversation.id));
    if (!stored && conversation.revision > 0) return undefined;
    const known = stored && upgraded(stored);
    const merged = known && known.revision !== conversation.revision ? mergeConversations(known, conversation) : conversation;
    const next = { ...merged, revision: merged.revision + 1 };
    change.objectStore(WHOLE).put(next);
    change.objectStore(BRIEF).put(summaryOf(next));
    await committed(change);
    return next;
  }

  /** @param {string} id @returns {Promise<Conversation | undefined>} */
  async load(id) {
    const stored = await finished((await this.#change("readonly")).objectStore(WHOLE).get(id));
    return stored && upgraded(stored);
  }

  /** @param {string} id */
  async remove(id) {
    const change = await this.#change("readwrite");
    change.objectStore(WHOLE).delete(id);
    change.objectStore(BRIEF).delete(id);
    await committed(change);
  }

  /** @returns {Promise<Summary[]>} the newest first */
  async list() {
    const change = await this.#change("readonly");
    /** @type {Summary[]} */
    const all = await finished(change.objectStore(BRIEF).getAll());
    return all.sort((a, b) => b.updated_epoch_ms - a.updated_epoch_ms);
  }

  /**
   * Every conversation in full, one after the other, so that only one is in memory.
   * @param {(conversation: Conversation) => boolean | void} visit true ends it
   */
  async each(visit) {
    const request = (await this.#change("readonly")).objectStore(WHOLE).index("updated").openCursor(null, "prev");
    await walked(request, (cursor) => visit(upgraded(cursor.value)) === true);
  }

  /** Open the database before it is needed. What hinders that is told by the call that needs it. */
  async open() {
    await this.#change("readonly").catch(() => {});
  }

  // Private

  /** @param {IDBTransactionMode} mode */
  async #change(mode) {
    this.#database ??= open(this.name, () => (this.#database = null));
    try {
      return (await this.#database).transaction([WHOLE, BRIEF], mode);
    } catch (error) {
      this.#database = null; // The browser closed it; the next call opens it anew.
      throw error;
    }
  }
}

// Private

/** @param {Conversation} conversation @returns {Summary} */
const summaryOf = (conversation) => ({
  id: conversation.id,
  title: titleOf(conversation),
  updated_epoch_ms: conversation.updated_epoch_ms,
  questions: conversation.turns.length,
});

/** @param {string} name @param {() => void} closed @returns {Promise<IDBDatabase>} */
async function open(name, closed) {
  const request = indexedDB.open(name, VERSION);
  request.onupgradeneeded = () => upgrade(/** @type {IDBTransaction} */ (request.transaction), request.result);
  const database = await new Promise((resolve, reject) => {
    finished(request).then(resolve, reject);
    // A tab with an older page holds the old database; it has to be closed or loaded anew first.
    request.onblocked = () => reject(new DOMException("an older tab is open", "BlockedError"));
  });
  database.onversionchange = () => {
    database.close();
    closed();
  };
  database.onclose = closed;
  return database;
}

/** Version 1 had whole conversations only, and those without branches.
 * @param {IDBTransaction} change @param {IDBDatabase} database */
function upgrade(change, database) {
  const names = database.objectStoreNames;
  const whole = names.contains(WHOLE) ? change.objectStore(WHOLE) : database.createObjectStore(WHOLE, { keyPath: "id" });
  if (!whole.indexNames.contains("updated")) whole.createIndex("updated", "updated_epoch_ms");
  const brief = database.createObjectStore(BRIEF, { keyPath: "id" });
  walked(whole.openCursor(), (cursor) => {
    const conversation = upgraded(cursor.value);
    cursor.update(conversation);
    brief.put(summaryOf(conversation));
  });
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function finished(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the browser's storage failed"));
  });
}

/** @param {IDBTransaction} change @returns {Promise<void>} a quota is only noticed here */
function committed(change) {
  return new Promise((resolve, reject) => {
    change.oncomplete = () => resolve();
    change.onabort = change.onerror = () => reject(change.error ?? new Error("the browser's storage failed"));
  });
}

/**
 * @param {IDBRequest<IDBCursorWithValue | null>} request
 * @param {(cursor: IDBCursorWithValue) => boolean | void} visit true ends it
 * @returns {Promise<void>}
 */
function walked(request, visit) {
  return new Promise((resolve, reject) => {
    request.onerror = () => reject(request.error ?? new Error("the browser's storage failed"));
    request.onsuccess = () => {
      const cursor = request.result;
      if (!cursor || visit(cursor) === true) return resolve();
      cursor.continue();
    };
  });
}
