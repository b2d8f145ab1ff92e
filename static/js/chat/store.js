/**
 * Conversations in the browser's IndexedDB. Storing can fail (private windows, a full disk): every
 * call says so by a rejected promise, and the page goes on without it. It refuses to know what a
 * conversation means.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 */

const NAME = "firstword";
const STORE = "conversations";
/** Older conversations are let go, so that a browser used for years stays quick. */
const MAX_KEPT = 200;

export class ConversationStore {
  /** @type {Promise<IDBDatabase> | null} */
  #database = null;

  /** @param {Conversation} conversation */
  async save(conversation) {
    const store = await this.#store("readwrite");
    await finished(store.put(conversation));
  }

  /** @param {string} id @returns {Promise<Conversation | undefined>} */
  async load(id) {
    return finished((await this.#store("readonly")).get(id));
  }

  /** @param {string} id */
  async remove(id) {
    await finished((await this.#store("readwrite")).delete(id));
  }

  /** @returns {Promise<Conversation[]>} the newest first */
  async list() {
    /** @type {Conversation[]} */
    const all = await finished((await this.#store("readonly")).index("updated").getAll());
    const newestFirst = all.reverse();
    for (const old of newestFirst.slice(MAX_KEPT)) await this.remove(old.id);
    return newestFirst.slice(0, MAX_KEPT);
  }

  // Private

  /** @param {IDBTransactionMode} mode */
  async #store(mode) {
    this.#database ??= open();
    try {
      return (await this.#database).transaction(STORE, mode).objectStore(STORE);
    } catch (error) {
      this.#database = null; // The browser closed it; the next call opens it anew.
      throw error;
    }
  }
}

// Private

/** @returns {Promise<IDBDatabase>} */
function open() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(STORE, { keyPath: "id" }).createIndex("updated", "updated_epoch_ms");
  };
  return finished(request);
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
