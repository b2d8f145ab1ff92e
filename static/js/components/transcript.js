/**
 * The conversation on the page: the shown path, turn by turn. `update` adds what is new and removes what
 * is gone; what stands is not touched. The last turn is there at once, the others, in a long
 * conversation, in slices from the end to the beginning, in which nobody looks yet. A reply that is on
 * its way keeps its view wherever the reader goes meanwhile, because its text is painted piece by piece.
 *
 * @typedef {import("../chat/conversation.js").Conversation} Conversation
 * @typedef {import("../chat/reply.js").Reply} Reply
 */

import { Slice } from "../answer/slices.js";
import { shownPath, turnOf } from "../chat/conversation.js";
import { isLive } from "../chat/reply.js";
import { ReplyView } from "./reply_view.js";
import { TurnView } from "./turn_view.js";

export class Transcript {
  /** @type {Map<string, ReplyView>} */
  #views = new Map();
  /** @type {Map<string, TurnView>} */
  #turns = new Map();
  /** @type {Conversation | null} */
  #conversation = null;
  #placings = 0;
  /** The focus of one who steps through the wordings of a question, on its way to the one that is to be placed.
   * @type {{ turn: string, arrow: import("./pager.js").Arrow } | null} */
  #step = null;

  /**
   * @param {HTMLElement} root
   * @param {import("../answer/libraries.js").Marked | null} marked
   * @param {(reply: Reply) => { elapsed(): number, waitsForModel(): boolean }} timeOf
   */
  constructor(root, marked, timeOf) {
    this.root = root;
    this.marked = marked;
    this.timeOf = timeOf;
  }

  /** @param {Conversation} conversation */
  update(conversation) {
    this.#conversation = conversation;
    const path = shownPath(conversation);
    const wanted = new Set(path.map(({ turn }) => turn.id));
    this.#noteStep(path, wanted);
    for (const [id, view] of this.#turns) if (!wanted.has(id)) this.#drop(id, view);
    void this.#place(path);
    this.#forget(conversation);
  }

  /** @param {Reply} reply @returns {ReplyView} made when it is first asked for */
  view(reply) {
    const known = this.#views.get(reply.id);
    if (known) return known;
    const view = new ReplyView(reply, this.marked, this.timeOf(reply));
    this.#views.set(reply.id, view);
    view.restore();
    return view;
  }

  /** The record has become another one; its view is made anew. @param {Reply} reply */
  renew(reply) {
    this.#views.get(reply.id)?.element.remove();
    this.#views.delete(reply.id);
  }

  /** A reply has begun or ended. */
  updateActions() {
    for (const view of this.#turns.values()) view.updateActions();
  }

  /** @param {string} [turnId] without: the last turn */
  edit(turnId = this.#conversation ? shownPath(this.#conversation).at(-1)?.turn.id : undefined) {
    if (turnId) this.#turns.get(turnId)?.edit();
  }

  // Private

  /** What a first slice makes is on the page at once; the rest comes together, so that it is laid out once.
   * @param {import("../chat/conversation.js").Step[]} path */
  async #place(path) {
    const mine = (this.#placings += 1);
    const missing = document.createDocumentFragment();
    /** @type {Element | null} */
    let below = null;
    const insert = () => {
      const first = missing.firstElementChild;
      this.root.insertBefore(missing, below);
      below = first ?? below;
      this.#carryFocus();
    };
    let isFirst = true;
    const slice = new Slice();
    for (const step of path.reverse()) {
      const view = this.#turns.get(step.turn.id) ?? new TurnView((reply) => this.view(reply));
      this.#turns.set(step.turn.id, view);
      view.update(step);
      if (view.element.parentNode === this.root) {
        insert();
        below = view.element;
      } else missing.prepend(view.element);
      if (!slice.isOver) continue;
      if (isFirst) insert();
      isFirst = false;
      await slice.next();
      if (this.#placings !== mine) return; // Somebody has updated meanwhile, and places all of it.
    }
    insert();
  }

  /** @param {import("../chat/conversation.js").Step[]} path @param {Set<string>} wanted turns of it */
  #noteStep(path, wanted) {
    if (this.#step && !wanted.has(this.#step.turn)) this.#step = null;
    for (const [left, { focusedArrow: arrow }] of this.#turns) {
      if (!arrow || wanted.has(left)) continue;
      const next = path.find(({ siblings }) => siblings.some(({ id }) => id === left));
      if (next) this.#step = { turn: next.turn.id, arrow };
    }
  }

  #carryFocus() {
    const view = this.#step && this.#turns.get(this.#step.turn);
    if (!this.#step || !view?.element.isConnected) return;
    // Who has gone elsewhere meanwhile is left there.
    if (document.activeElement === document.body) view.focusArrow(this.#step.arrow);
    this.#step = null;
  }

  /** @param {string} id @param {TurnView} view */
  #drop(id, view) {
    view.element.remove();
    this.#turns.delete(id);
  }

  /** Views of replies that are neither here nor on their way. @param {Conversation} conversation */
  #forget(conversation) {
    for (const [id, { reply }] of this.#views) {
      if (!isLive(reply) && !turnOf(conversation, id)) this.#views.delete(id);
    }
  }
}
