/**
 * The versions of one reply: step through them, or lay them side by side with their first word, last
 * word and strip on one common axis. Where the versions came in different ways (streamed, all at once)
 * the comparison is open from the start: it is what this page is for.
 *
 * @typedef {import("../chat/reply.js").Reply} Reply
 */

import { isLive } from "../chat/reply.js";
import { spellTime } from "../measure/spelling.js";
import { axisFor } from "../measure/strip_shape.js";
import { say } from "../words.js";
import { Pager } from "./pager.js";
import { fromTemplate, part, setText } from "./parts.js";
import { spellSettings } from "./settings_words.js";
import { Strip } from "./strip.js";

export class Versions {
  /** What the reader wants; null: not asked yet. @type {boolean | null} */
  #open = null;
  /** @type {Reply[]} */
  #replies = [];
  /** @type {Reply | undefined} */
  #shown;
  /** @type {Map<string, { element: HTMLElement, strip: Strip }>} */
  #rows = new Map();

  /** @param {(replyId: string) => void} choose @param {() => void} changed whether all are shown has changed */
  constructor(choose, changed) {
    this.choose = choose;
    this.element = fromTemplate("versions-template");
    this.pager = new Pager((place) => say("versionOf", place), choose);
    this.button = part(this.element, "compare", HTMLButtonElement);
    this.list = part(this.element, "versions-list", HTMLOListElement);
    this.all = part(this.element, "show-all", HTMLInputElement);
    part(this.element, "versions-row", HTMLElement).prepend(this.pager.element);
    this.button.addEventListener("click", () => {
      this.#open = this.list.hidden;
      this.#show();
    });
    this.all.addEventListener("change", changed);
  }

  /** @returns {boolean} whether every version's text is wanted */
  get showsAll() {
    return this.all.checked && this.#replies.length > 1;
  }

  /** @param {Reply[]} replies @param {Reply | undefined} shown */
  update(replies, shown) {
    this.#replies = replies;
    this.#shown = shown;
    this.element.hidden = replies.length < 2;
    this.pager.update(replies.map(({ id }) => id), shown?.id);
    if (replies.length > 1) this.#show();
  }

  // Private

  #show() {
    const differ = new Set(this.#replies.map(({ mode }) => mode)).size > 1;
    const open = this.#open ?? differ;
    this.button.setAttribute("aria-expanded", String(open));
    this.list.hidden = !open;
    if (!open) return;
    const axis_ms = axisFor(Math.max(...this.#replies.map(endOf)));
    this.#replies.forEach((reply, i) => this.#showRow(reply, i + 1, axis_ms));
  }

  /** @param {Reply} reply @param {number} number @param {number} axis_ms */
  #showRow(reply, number, axis_ms) {
    const { element, strip } = this.#row(reply);
    const choice = part(element, "choice", HTMLButtonElement);
    if (reply === this.#shown) choice.setAttribute("aria-current", "true");
    else choice.removeAttribute("aria-current");
    setText(part(element, "version-number", HTMLElement), String(number));
    setText(part(element, "version-mode", HTMLElement), reply.continues ? say("modeContinued", { mode: say(reply.mode) }) : say(reply.mode));
    setText(part(element, "version-times", HTMLElement), isLive(reply) ? say("underWay")
      : say("versionTimes", { first: spellTime(reply.firstPaint_ms), last: spellTime(reply.lastPaint_ms) }));
    const words = reply.settings ? spellSettings({ ...reply.settings, system: "" }) : "";
    setText(part(element, "version-settings", HTMLElement), words);
    element.dataset.mode = reply.mode;
    strip.show({ ...reply, now_ms: endOf(reply), ended: !isLive(reply), axis_ms });
  }

  /** @param {Reply} reply */
  #row(reply) {
    const known = this.#rows.get(reply.id);
    if (known) return known;
    const row = { element: fromTemplate("version-template"), strip: new Strip() };
    part(row.element, "version-strip", HTMLElement).append(row.strip.element);
    part(row.element, "choice", HTMLButtonElement).addEventListener("click", () => this.choose(reply.id));
    this.list.append(row.element);
    this.#rows.set(reply.id, row);
    return row;
  }
}

// Private

/** @param {Reply} reply */
function endOf({ lastPaint_ms, ended_ms, arrivals }) {
  return Math.max(lastPaint_ms ?? 0, arrivals.at(-1)?.at_ms ?? 0) || (ended_ms ?? 0);
}
