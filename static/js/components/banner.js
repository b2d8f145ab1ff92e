/**
 * One calm line above the composer: the model is loading, the connection is lost, the browser does not
 * store. The most important thing wins; what is over disappears. A bar shows progress where it is known.
 */

import { part, setText } from "./parts.js";

/** Highest first. */
const ORDER = ["connection", "loading", "stalled", "storage", "network"];

export class Banner {
  /** @type {Map<string, { text: string, progress: number | null }>} */
  #lines = new Map();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.text = part(root, "banner-text", HTMLElement);
    this.bar = part(root, "banner-bar", HTMLProgressElement);
  }

  /**
   * @param {"connection" | "loading" | "stalled" | "storage" | "network"} topic
   * @param {string} text "" when it is over
   * @param {number | null} [progress] from 0 to 1
   */
  show(topic, text, progress = null) {
    if (text) this.#lines.set(topic, { text, progress });
    else this.#lines.delete(topic);
    const first = ORDER.map((name) => this.#lines.get(name)).find(Boolean);
    this.root.hidden = !first;
    setText(this.text, first?.text ?? "");
    this.bar.hidden = first?.progress == null;
    if (first?.progress != null) this.bar.value = first.progress;
  }
}
