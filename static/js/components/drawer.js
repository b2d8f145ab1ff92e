/**
 * The list of conversations: beside the chat where there is room, over it on a phone. It shows what the
 * library answers and asks the library for changes; deleting offers Undo instead of asking first. It
 * speaks upwards by `open-conversation` {id} and says through the notice what happened.
 *
 * @typedef {import("../chat/library.js").Library} Library
 * @typedef {import("../chat/library.js").Entry} Entry
 */

import { remember } from "../remembered.js";
import { say } from "../words.js";
import { EntryView } from "./entry_view.js";
import { mountFiles } from "./files.js";
import { part, setText } from "./parts.js";

/** So many entries are drawn at once; more on demand. */
const PAGE = 100;
const TYPING_MS = 120;
const WIDE = "(min-width: 64rem)";

export class Drawer {
  #most = PAGE;
  #asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #refreshing;
  /** @type {Map<string, EntryView>} */
  #views = new Map();

  /**
   * @param {HTMLDialogElement} root
   * @param {HTMLButtonElement} toggle opens and closes it
   * @param {Library} library
   * @param {import("./notice.js").Notice} notice
   */
  constructor(root, toggle, library, notice) {
    this.root = root;
    this.toggle = toggle;
    this.library = library;
    this.notice = notice;
    this.search = part(root, "search", HTMLInputElement);
    this.entries = part(root, "entries", HTMLUListElement);
    this.more = part(root, "more-entries", HTMLButtonElement);
    this.note = part(root, "drawer-note", HTMLElement);
    this.search.addEventListener("input", () => this.refreshSoon(TYPING_MS));
    this.more.addEventListener("click", () => this.#showMore());
    part(root, "drawer-close", HTMLButtonElement).addEventListener("click", () => this.close());
    root.addEventListener("close", () => this.#closed());
    root.addEventListener("click", (event) => event.target === root && this.#isModal && this.close());
    root.addEventListener("keydown", (event) => this.#keyDown(event));
    mountFiles(root, library, (text) => notice.show(text));
    matchMedia(WIDE).addEventListener("change", () => root.close());
  }

  /** @param {boolean} [focus] whether the reader asked for it */
  open(focus = true) {
    if (this.root.open) return focus ? this.search.focus() : undefined;
    const wide = matchMedia(WIDE).matches;
    this.root.dataset.modal = String(!wide);
    if (wide) this.root.show();
    else {
      this.root.showModal();
      this.notice.standIn(this.root);
    }
    this.toggle.setAttribute("aria-expanded", "true");
    if (focus) this.search.focus();
    if (!this.#isModal) remember("drawer", "open");
    this.refreshSoon(0);
  }

  close() {
    if (!this.#isModal) remember("drawer", "closed");
    this.root.close();
  }

  /** Something has been stored, here or in another tab. @param {number} [in_ms] */
  refreshSoon(in_ms = 50) {
    if (!this.root.open) return;
    clearTimeout(this.#refreshing);
    this.#refreshing = setTimeout(() => this.#refresh(), in_ms);
  }

  // Private

  get #isModal() {
    return this.root.dataset.modal === "true";
  }

  #closed() {
    this.notice.standIn(null);
    this.toggle.setAttribute("aria-expanded", "false");
    this.toggle.focus();
  }

  async #refresh() {
    const asked = (this.#asked += 1);
    try {
      const entries = await this.library.list(this.search.value, () => asked !== this.#asked);
      if (entries) this.#show(entries);
    } catch (error) {
      setText(this.note, say("notListed", { why: error instanceof Error ? error.name : "?" }));
    }
  }

  /** The focus goes to the first of the new ones: the button itself may be gone. */
  async #showMore() {
    const first = this.#most;
    this.#most += PAGE;
    await this.#refresh();
    this.#buttons()[first]?.focus();
  }

  /** @param {Entry[]} entries */
  #show(entries) {
    const shown = entries.slice(0, this.#most);
    const searched = this.search.value.trim() !== "";
    const counted = searched ? say("foundCount", { count: entries.length }) : entries.length === 0 ? say("noChats") : "";
    setText(this.note, counted);
    this.more.hidden = entries.length <= shown.length;
    const wanted = new Set(shown.map(({ summary }) => summary.id));
    for (const [id, view] of this.#views) {
      if (wanted.has(id)) continue;
      view.element.remove();
      this.#views.delete(id);
    }
    shown.forEach((entry, place) => {
      const view = this.#views.get(entry.summary.id) ?? this.#newView(entry.summary.id);
      view.update(entry, this.library.hand.shown.id);
      const there = this.entries.children[place];
      if (there !== view.element) this.entries.insertBefore(view.element, there ?? null);
    });
  }

  /** @param {string} id */
  #newView(id) {
    const view = new EntryView({
      open: () => {
        this.root.dispatchEvent(new CustomEvent("open-conversation", { bubbles: true, detail: { id } }));
        if (this.#isModal) this.close();
      },
      rename: (title) => this.#try(this.library.rename(id, title)),
      remove: () => this.#remove(id),
    });
    this.#views.set(id, view);
    return view;
  }

  /** @param {string} id */
  async #remove(id) {
    const buttons = this.#buttons();
    const place = buttons.findIndex((button) => this.#views.get(id)?.element.contains(button));
    const undo = await this.#try(this.library.remove(id));
    if (!undo) return;
    await this.#refresh();
    (this.#buttons()[place] ?? this.#buttons().at(-1) ?? this.search).focus();
    this.notice.show(say("chatDeleted"), { label: say("undo"), act: () => void this.#try(undo()) });
  }

  /** @template T @param {Promise<T>} work @returns {Promise<T | undefined>} */
  async #try(work) {
    try {
      return await work;
    } catch (error) {
      this.notice.show(say("notSaved", { why: error instanceof Error ? error.name : "?" }));
      return undefined;
    }
  }

  /** Up and down walk through the list. @param {KeyboardEvent} event */
  #keyDown(event) {
    if (event.key === "Escape" && !this.#isModal) {
      event.stopPropagation(); // This Escape closes the list; it does not stop a reply.
      return this.close();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const buttons = this.#buttons();
    const at = buttons.findIndex((button) => button.parentElement?.contains(document.activeElement));
    const next = at + step < 0 ? this.search : buttons[at + step];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  #buttons() {
    return /** @type {HTMLElement[]} */ (Array.from(this.entries.querySelectorAll('[data-part="open"]')));
  }
}
