/**
 * Where a message is written and its delivery is chosen. Enter sends, except while an input method is
 * composing a character, and except on touch screens, where Enter is the only way to a new line. It
 * speaks upwards by events: `ask` {text, at_ms}, `halt`, `edit-last` (the up key in an empty field).
 */

import { recall, remember } from "../remembered.js";
import { part, setText } from "./parts.js";

/** @typedef {import("../chat/reply.js").Mode} Mode */

/** What Chromium and Safari report for a key that an input method has taken. */
const TAKEN_BY_INPUT_METHOD = 229;

export class Composer {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.text = part(root, "prompt", HTMLTextAreaElement);
    this.sendButton = part(root, "send", HTMLButtonElement);
    this.stopButton = part(root, "stop", HTMLButtonElement);
    this.chosen = part(root, "chosen", HTMLButtonElement);
    this.modes = /** @type {NodeListOf<HTMLInputElement>} */ (root.querySelectorAll('input[name="mode"]'));
    this.text.addEventListener("keydown", (event) => this.#keyDown(event));
    this.text.addEventListener("input", () => this.#fit());
    this.sendButton.addEventListener("click", () => this.send());
    this.stopButton.addEventListener("click", () => this.#halt());
    for (const mode of this.modes) mode.addEventListener("change", () => remember("mode", this.mode));
    this.mode = recall("mode", "streamed") === "whole" ? "whole" : "streamed";
    this.#fit();
  }

  /** @returns {Mode} */
  get mode() {
    return Array.from(this.modes).find((mode) => mode.checked)?.value === "whole" ? "whole" : "streamed";
  }

  set mode(value) {
    for (const mode of this.modes) mode.checked = mode.value === value;
    remember("mode", value);
  }

  toggleMode() {
    this.mode = this.mode === "whole" ? "streamed" : "whole";
  }

  /** @param {boolean} live a reply is being made: Stop takes the place of Send */
  update(live) {
    const hadFocus = document.activeElement === (live ? this.sendButton : this.stopButton);
    this.sendButton.hidden = live;
    this.stopButton.hidden = !live;
    // A button that vanishes under the focus would throw a keyboard user back to the top.
    if (!hadFocus) return;
    if (live) this.stopButton.focus();
    else this.takeFocus();
  }

  /** What is not usual about the next reply. @param {string} words "" for nothing */
  showChosen(words) {
    setText(this.chosen, words);
    this.chosen.hidden = words === "";
  }

  /** What had the focus is gone. On a touch screen the field would bring up the keyboard, so a button takes it. */
  takeFocus() {
    const button = this.sendButton.hidden ? this.stopButton : this.sendButton;
    (onTouchScreen() ? button : this.text).focus();
  }

  /** A message that could not be asked stands before what has been written since. @param {string} text */
  giveBack(text) {
    this.fill([text, this.text.value].filter(Boolean).join("\n"));
  }

  /** @param {string} text */
  fill(text) {
    this.text.value = text;
    this.#fit();
    this.text.focus();
  }

  send() {
    const at_ms = performance.now();
    const text = this.text.value.trim();
    if (text === "" || this.sendButton.hidden) return;
    this.text.value = "";
    this.#fit();
    this.root.dispatchEvent(new CustomEvent("ask", { bubbles: true, detail: { text, at_ms } }));
  }

  // Private

  #halt() {
    this.root.dispatchEvent(new CustomEvent("halt", { bubbles: true }));
  }

  #editLast() {
    this.root.dispatchEvent(new CustomEvent("edit-last", { bubbles: true }));
  }

  /** @param {KeyboardEvent} event */
  #keyDown(event) {
    if (event.key === "ArrowUp" && this.text.value === "") {
      event.preventDefault();
      return this.#editLast();
    }
    if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
    if (event.isComposing || event.keyCode === TAKEN_BY_INPUT_METHOD) return;
    if (onTouchScreen() && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.send();
  }

  /** As tall as the text where the style sheet alone cannot do that; it sets the limit. */
  #fit() {
    if (CSS.supports("field-sizing", "content")) return;
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight + 2}px`;
  }
}

// Private

const onTouchScreen = () => matchMedia("(pointer: coarse) and (hover: none)").matches;
