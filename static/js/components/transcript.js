/**
 * The conversation on the page: the shown path, turn by turn. `update` adds what is new and removes what
 * is gone; what stands is not touched. A reply that is on its way keeps its view wherever the reader
 * goes meanwhile, because its text is painted piece by piece.
 *
 * @typedef {import("../chat/conversation.js").Conversation} Conversation
 * @typedef {import("../chat/reply.js").Reply} Reply
 */

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

  /**
   * @param {HTMLElement} root
   * @param {import("../answer/answer.js").Library} marked
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
    for (const [id, view] of this.#turns) if (!wanted.has(id)) this.#drop(id, view);
    path.forEach((step, place) => {
      const view = this.#turns.get(step.turn.id) ?? new TurnView((reply) => this.view(reply));
      this.#turns.set(step.turn.id, view);
      const there = this.root.children[place];
      if (there !== view.element) this.root.insertBefore(view.element, there ?? null);
      view.update(step);
    });
    this.#forget(conversation);
  }

  /** @param {Reply} reply @returns {ReplyView} made when it is first asked for */
  view(reply) {
    const known = this.#views.get(reply.id);
    if (known) return known;
    const view = new ReplyView(reply, this.marked, this.timeOf(reply));
    this.#views.set(reply.id, view);
    if (reply.text) view.paint(reply.text);
    if (reply.ended_ms !== null) view.finish();
    view.update();
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
