/**
 * The conversation on the page: turns in order, each a question and its replies. `update` adds what is
 * new and removes what is gone; what stands is not touched. Earlier replies of a turn stay above the
 * one that was asked for again, so that they can be compared.
 */

import { say } from "../words.js";
import { fromTemplate, part } from "./parts.js";
import { ReplyView } from "./reply_view.js";

/** @typedef {import("../chat/conversation.js").Conversation} Conversation */
/** @typedef {import("../chat/reply.js").Reply} Reply */

export class Transcript {
  /** @type {Map<string, ReplyView>} */
  #views = new Map();

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
  update({ turns }) {
    const wanted = new Set(turns.map((turn) => turn.id));
    for (const child of Array.from(this.root.children)) {
      if (!wanted.has(/** @type {HTMLElement} */ (child).dataset.turn ?? "")) child.remove();
    }
    for (const turn of turns) {
      const element = this.#turn(turn);
      for (const reply of turn.replies) this.#reply(element, reply);
    }
    const alive = new Set(turns.flatMap((turn) => turn.replies.map((reply) => reply.id)));
    for (const id of this.#views.keys()) if (!alive.has(id)) this.#views.delete(id);
  }

  /** @param {string} replyId @returns {ReplyView} */
  view(replyId) {
    const view = this.#views.get(replyId);
    if (!view) throw new Error("this reply is not on the page");
    return view;
  }

  // Private

  /** @param {import("../chat/conversation.js").Turn} turn */
  #turn(turn) {
    const present = this.root.querySelector(`[data-turn="${turn.id}"]`);
    if (present) return present;
    const element = fromTemplate("turn-template");
    element.dataset.turn = turn.id;
    const question = part(element, "question", HTMLElement);
    question.textContent = turn.question;
    part(element, "who", HTMLElement).textContent = say("you");
    this.root.append(element);
    return element;
  }

  /** @param {Element} turn @param {Reply} reply */
  #reply(turn, reply) {
    if (this.#views.has(reply.id)) return;
    const view = new ReplyView(reply, this.marked, this.timeOf(reply));
    this.#views.set(reply.id, view);
    turn.append(view.element);
    if (reply.text) view.paint(reply.text);
    if (reply.ended_ms !== null) view.finish();
    view.update();
  }
}
