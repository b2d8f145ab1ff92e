/**
 * One turn on the page: the question, its other wordings (branches), its replies of which one is shown,
 * and what can be done with them. It speaks upwards by events: `edit` {turn, text, at_ms}, `choose`
 * {fork, branch}, `go-on` {reply, at_ms}, `share` {turn}, `remove-turn` {turn}.
 *
 * @typedef {import("../chat/conversation.js").Turn} Turn
 * @typedef {import("../chat/reply.js").Reply} Reply
 * @typedef {import("./reply_view.js").ReplyView} ReplyView
 */

import { isLive } from "../chat/reply.js";
import { say } from "../words.js";
import { Pager } from "./pager.js";
import { fromTemplate, part, setText } from "./parts.js";
import { QuestionForm } from "./question_form.js";
import { Versions } from "./versions.js";

export class TurnView {
  /** @type {QuestionForm | null} */
  #form = null;
  /** Other wordings; most questions have none. @type {Pager | null} */
  #branches = null;
  /** @type {Versions | null} */
  #versions = null;
  /** @type {import("../chat/conversation.js").Step | null} */
  #step = null;

  /** @param {(reply: Reply) => ReplyView} viewOf */
  constructor(viewOf) {
    this.viewOf = viewOf;
    this.element = fromTemplate("turn-template");
    this.question = part(this.element, "question", HTMLElement);
    this.asked = part(this.element, "asked", HTMLElement);
    this.replies = part(this.element, "replies", HTMLElement);
    setText(part(this.element, "who", HTMLElement), say("you"));
    this.goOn = /** @type {HTMLButtonElement} */ (fromTemplate("go-on-template"));
    this.#listen();
  }

  /** @param {import("../chat/conversation.js").Step} step */
  update(step) {
    this.#step = step;
    this.element.dataset.turn = step.turn.id;
    setText(this.question, step.turn.question);
    this.#showBranches(step);
    this.#showVersions(step);
    this.#showReplies();
  }

  /** The shown reply has begun, ended or failed: what can be done with it changes. */
  updateActions() {
    const reply = this.#step?.reply;
    const broken = reply && !isLive(reply) && reply.text !== "" &&
      (reply.state === "stopped" || reply.state === "failed" || reply.finish === "length");
    this.goOn.hidden = !broken;
    if (this.#step) this.#showVersions(this.#step);
  }

  /** @returns {import("./pager.js").Arrow | null} where the focus is among the question's wordings */
  get focusedArrow() {
    return this.#branches?.focused ?? null;
  }

  /** @param {import("./pager.js").Arrow} arrow */
  focusArrow(arrow) {
    this.#branches?.focus(arrow);
  }

  edit() {
    // A page in the middle of a reply refuses by preventDefault.
    const ask = (/** @type {string} */ text) => this.#tell("edit", { turn: this.#step?.turn.id, text, at_ms: performance.now() });
    this.#form ??= new QuestionForm(ask, (left) => this.#closed(left));
    this.asked.hidden = true;
    this.#form.open(this.asked, this.#step?.turn.question ?? "");
  }

  // Private

  #listen() {
    part(this.element, "edit", HTMLButtonElement).addEventListener("click", () => this.edit());
    part(this.element, "share", HTMLButtonElement).addEventListener("click", ({ currentTarget }) =>
      this.#tell("share", { turn: this.#step?.turn, button: currentTarget }));
    part(this.element, "remove", HTMLButtonElement).addEventListener("click", () => this.#tell("remove-turn", { turn: this.#step?.turn.id }));
    this.goOn.addEventListener("click", () => this.#tell("go-on", { reply: this.#step?.reply?.id, at_ms: performance.now() }));
    this.element.addEventListener("measured", () => this.updateActions());
  }

  /** @param {boolean} left */
  #closed(left) {
    this.asked.hidden = false;
    if (left) part(this.element, "edit", HTMLButtonElement).focus();
  }

  /** @param {import("../chat/conversation.js").Step} step */
  #showBranches({ turn, siblings }) {
    if (siblings.length < 2 && !this.#branches) return;
    if (!this.#branches) {
      this.#branches = new Pager((place) => say("branchOf", place), (id) => this.#choose(this.#step?.turn.parent ?? "", id));
      part(this.element, "branches", HTMLElement).append(this.#branches.element);
    }
    this.#branches.update(siblings.map(({ id }) => id), turn.id);
  }

  /** @param {import("../chat/conversation.js").Step} step */
  #showVersions({ turn, reply }) {
    if (turn.replies.length < 2 && !this.#versions) return;
    if (!this.#versions) {
      this.#versions = new Versions((id) => this.#choose(this.#step?.turn.id ?? "", id), () => this.#showReplies());
      part(this.element, "versions", HTMLElement).append(this.#versions.element);
    }
    this.#versions.update(turn.replies, reply);
  }

  #showReplies() {
    const shown = this.#step?.reply;
    const all = this.#versions?.showsAll ?? false;
    for (const reply of this.#step?.turn.replies ?? []) {
      const wanted = all || reply === shown;
      const known = this.replies.querySelector(`[data-reply="${reply.id}"]`);
      if (!wanted && !known) continue;
      const { element } = this.viewOf(reply);
      if (element.parentElement !== this.replies) this.replies.append(element);
      element.hidden = !wanted;
    }
    const actions = shown && this.viewOf(shown).element.querySelector(".actions");
    if (actions && this.goOn.parentElement !== actions) actions.append(this.goOn);
    this.updateActions();
  }

  /** @param {string} fork @param {string} branch */
  #choose(fork, branch) {
    this.#tell("choose", { fork, branch });
  }

  /** @param {string} name @param {object} detail @returns {boolean} */
  #tell(name, detail) {
    return this.element.dispatchEvent(new CustomEvent(name, { bubbles: true, cancelable: true, detail }));
  }
}
