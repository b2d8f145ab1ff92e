/**
 * Keeps the conversations in hand stored, and in step with other tabs: saves one at a time, at turning
 * points and every second while something grows, and takes in what other tabs have stored. A failure is
 * told and changes nothing else.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {object} Hands
 * @property {(id: string) => Conversation | undefined} inHand
 * @property {(stored: Conversation) => void} adopt join what is stored with what is in hand
 * @property {(id: string) => void} removed another tab has deleted it
 * @property {(problem: unknown) => void} tell null: storing works (again)
 * @property {() => void} listChanged
 */

const SAVE_EVERY_MS = 1000;

export class Keeping {
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  #soon = new Map();
  /** Saves on their way; true: something has changed since. @type {Map<string, boolean>} */
  #saving = new Map();

  /**
   * @param {import("./store.js").ConversationStore} store
   * @param {import("./tabs.js").Tabs} tabs
   * @param {Hands} hands
   */
  constructor(store, tabs, hands) {
    this.store = store;
    this.tabs = tabs;
    this.hands = hands;
    tabs.listen((news) => this.#hear(news));
  }

  /** @param {string} id */
  saveSoon(id) {
    if (!this.#soon.has(id)) this.#soon.set(id, setTimeout(() => this.save(id), SAVE_EVERY_MS));
  }

  /** @param {string} id @returns {Promise<void>} */
  async save(id) {
    clearTimeout(this.#soon.get(id));
    this.#soon.delete(id);
    const conversation = this.hands.inHand(id);
    if (!conversation) return;
    if (this.#saving.has(id)) return void this.#saving.set(id, true);
    this.#saving.set(id, false);
    try {
      const stored = await this.put(conversation);
      if (stored) this.hands.adopt(stored);
      else this.hands.removed(id);
      this.hands.tell(null);
    } catch (error) {
      this.hands.tell(error);
    }
    const again = this.#saving.get(id);
    this.#saving.delete(id);
    if (again) await this.save(id);
  }

  /** Store it now and tell the other tabs. @param {Conversation} conversation
   * @returns {Promise<Conversation | undefined>} as it is stored; none: another tab has deleted it. Raises the store's error */
  async put(conversation) {
    const stored = await this.store.save(conversation);
    if (stored) this.tabs.tell("stored", stored.id, stored.revision);
    this.hands.listChanged();
    return stored;
  }

  /** @param {string} id @returns {Promise<Conversation | undefined>} */
  async load(id) {
    try {
      return await this.store.load(id);
    } catch (error) {
      this.hands.tell(error);
      return undefined;
    }
  }

  /** Delete it here and in other tabs. @param {string} id */
  async remove(id) {
    clearTimeout(this.#soon.get(id));
    this.#soon.delete(id);
    await this.store.remove(id);
    this.tabs.tell("removed", id);
    this.hands.listChanged();
  }

  // Private

  /** @param {import("./tabs.js").News} news */
  async #hear({ kind, id, revision }) {
    this.hands.listChanged();
    const mine = this.hands.inHand(id);
    if (!mine) return;
    if (kind === "removed") return this.hands.removed(id);
    if (revision <= mine.revision) return;
    const stored = await this.load(id);
    if (stored) this.hands.adopt(stored);
  }
}
