/**
 * The form in which a question is worded anew. It is made when it is first wanted, and taken from the page
 * when it is closed: a browser looks through every form there is for what it could fill in, and a long
 * conversation would have one at each question.
 */

import { fromTemplate, part } from "./parts.js";

export class QuestionForm {
  /**
   * @param {(text: string) => boolean} ask false: not now, the form stays as it is
   * @param {(left: boolean) => void} closed whether it was left without asking
   */
  constructor(ask, closed) {
    this.ask = ask;
    this.closed = closed;
    this.element = fromTemplate("edit-template");
    this.text = part(this.element, "edit-text", HTMLTextAreaElement);
    part(this.element, "edit-cancel", HTMLButtonElement).addEventListener("click", () => this.#close(true));
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.text.addEventListener("keydown", (event) => this.#keyDown(event));
  }

  /** Where it is open already, what has been written in it stays.
   * @param {Element} place it is put behind @param {string} question as it is worded now */
  open(place, question) {
    if (!this.element.isConnected) {
      place.after(this.element);
      this.text.value = question;
      this.text.setSelectionRange(question.length, question.length);
    }
    this.text.focus();
  }

  // Private

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    if (event.key === "Escape") {
      event.stopPropagation(); // This Escape closes the form; it does not stop a reply.
      this.#close(true);
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
      event.preventDefault();
      this.#submit();
    }
  }

  #submit() {
    const text = this.text.value.trim();
    if (text && this.ask(text)) this.#close(false);
  }

  /** @param {boolean} left */
  #close(left) {
    this.element.remove();
    this.closed(left);
  }
}
