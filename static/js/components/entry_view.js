/**
 * One line of the list: title, when, and a passage when it was searched for. F2 or the pencil renames in
 * place (Enter keeps, Escape leaves), Delete or the bin deletes.
 *
 * @typedef {{ open: () => void, rename: (title: string) => void, remove: () => void }} Wishes
 */

import { spellAgo } from "../chat/dates.js";
import { say } from "../words.js";
import { fromTemplate, part, setText } from "./parts.js";

export class EntryView {
  /** @param {Wishes} wishes */
  constructor(wishes) {
    this.wishes = wishes;
    this.element = fromTemplate("entry-template");
    this.button = part(this.element, "open", HTMLButtonElement);
    this.name = part(this.element, "name", HTMLInputElement);
    this.title = part(this.element, "title", HTMLElement);
    this.renameButton = part(this.element, "rename", HTMLButtonElement);
    this.deleteButton = part(this.element, "delete", HTMLButtonElement);
    this.button.addEventListener("click", wishes.open);
    this.button.addEventListener("keydown", ({ key }) => {
      if (key === "F2") this.#rename();
      if (key === "Delete") wishes.remove();
    });
    this.renameButton.addEventListener("click", () => this.#rename());
    this.deleteButton.addEventListener("click", wishes.remove);
    this.name.addEventListener("keydown", (event) => this.#nameKey(event));
    this.name.addEventListener("blur", () => this.#endRename(true));
  }

  /** @param {import("../chat/library.js").Entry} entry @param {string} openId */
  update({ summary, passage }, openId) {
    const title = summary.title || say("untitled");
    setText(this.title, title);
    setText(part(this.element, "date", HTMLElement), spellAgo(summary.updated_epoch_ms, Date.now(), document.documentElement.lang));
    this.renameButton.setAttribute("aria-label", say("renameOf", { title }));
    this.deleteButton.setAttribute("aria-label", say("deleteOf", { title }));
    if (summary.id === openId) this.button.setAttribute("aria-current", "true");
    else this.button.removeAttribute("aria-current");
    const place = part(this.element, "passage", HTMLElement);
    place.hidden = !passage;
    place.replaceChildren(...(passage ?? []).map(({ text, hit }) => (hit ? markOf(text) : text)));
  }

  // Private

  #rename() {
    this.name.value = this.title.textContent ?? "";
    this.name.hidden = false;
    this.button.hidden = true;
    this.name.focus();
    this.name.select();
  }

  /** @param {KeyboardEvent} event */
  #nameKey(event) {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.preventDefault(); // Nor does this Escape close the list.
    event.stopPropagation();
    this.#endRename(event.key === "Enter");
    this.button.focus();
  }

  /** @param {boolean} keep */
  #endRename(keep) {
    if (this.name.hidden) return;
    const title = this.name.value.trim();
    this.name.hidden = true;
    this.button.hidden = false;
    if (!keep || title === "" || title === this.title.textContent) return;
    setText(this.title, title);
    this.wishes.rename(title);
  }
}

// Private

/** @param {string} text */
function markOf(text) {
  const mark = document.createElement("mark");
  mark.textContent = text;
  return mark;
}
