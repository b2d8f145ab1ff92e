/**
 * The panel of settings: every number with its limits beside it, checked while it is typed; what is
 * right counts at once, what is wrong is said and not taken. It shows and changes the settings of the
 * conversation that is on the page.
 *
 * @typedef {import("../chat/settings.js").Settings} Settings
 * @typedef {object} Ports
 * @property {() => Settings} current
 * @property {(settings: Settings) => void} settle
 * @property {() => string} link to the experiment as it stands in the composer
 * @property {() => void} takeFocus where what opened the panel is gone when it closes
 */

import { rememberSettings } from "../chat/preferences.js";
import { LIMITS, MAX_SYSTEM_CHARS, NUMBERS, plainSettings, readNumber } from "../chat/settings.js";
import { say } from "../words.js";
import { mountCopy } from "./clipboard.js";
import { part, setText } from "./parts.js";

const SAID_MS = 1600;

export class SettingsPanel {
  /** @param {HTMLDialogElement} root @param {Ports} ports */
  constructor(root, ports) {
    this.root = root;
    this.ports = ports;
    this.form = part(root, "settings-form", HTMLFormElement);
    this.form.addEventListener("input", () => this.#read());
    this.form.addEventListener("submit", (event) => {
      const wrong = this.form.querySelector("[aria-invalid=true]");
      if (!(wrong instanceof HTMLElement)) return;
      event.preventDefault();
      wrong.focus();
    });
    part(root, "settings-close", HTMLButtonElement).addEventListener("click", () => root.close());
    part(root, "settings-reset", HTMLButtonElement).addEventListener("click", () => this.#reset());
    const keep = part(root, "settings-keep", HTMLButtonElement);
    keep.addEventListener("click", () => this.#keep(keep));
    mountCopy(part(root, "settings-link", HTMLButtonElement), ports.link);
    root.addEventListener("click", (event) => event.target === root && root.close());
    root.addEventListener("close", () => {
      const { activeElement } = document;
      if (activeElement === document.body || root.contains(activeElement)) ports.takeFocus();
    });
  }

  open() {
    this.#fill(this.ports.current());
    this.root.showModal();
  }

  // Private

  /** @param {Settings} settings */
  #fill(settings) {
    for (const name of NUMBERS) {
      this.#field(name).value = settings[name] === null ? "" : String(settings[name]);
      this.#say(name, false);
    }
    this.#field("system").value = settings.system;
    this.#field("pace").value = settings.pace;
    this.#field("smoothed").checked = settings.smoothed;
    this.#field("inspect").checked = settings.inspect;
    this.#saySystem();
  }

  /** Take what is right; of what is wrong the last right value stays. */
  #read() {
    const settings = { ...this.ports.current() };
    for (const name of NUMBERS) {
      const read = readNumber(name, this.#field(name).value);
      this.#say(name, "wrong" in read);
      if ("value" in read) settings[name] = read.value;
    }
    if (this.#saySystem()) settings.system = this.#field("system").value;
    settings.pace = /** @type {Settings["pace"]} */ (this.#field("pace").value);
    settings.smoothed = this.#field("smoothed").checked;
    settings.inspect = this.#field("inspect").checked;
    this.ports.settle(settings);
  }

  #reset() {
    this.ports.settle(plainSettings());
    this.#fill(plainSettings());
  }

  /** @param {HTMLButtonElement} button */
  #keep(button) {
    rememberSettings(this.ports.current());
    const label = /** @type {Element} */ (button.firstElementChild);
    setText(label, say("keptForNew"));
    setTimeout(() => setText(label, say("useForNew")), SAID_MS);
  }

  /** @param {import("../chat/settings.js").NumberName} name @param {boolean} wrong */
  #say(name, wrong) {
    const { low, high, whole } = LIMITS[name];
    const limits = say(whole ? "limitsWhole" : "limits", { low, high });
    this.#mark(name, wrong, wrong ? say("notWithin", { limits }) : `${limits} · ${say(`about_${name}`)}`);
  }

  /** @returns {boolean} whether it is right */
  #saySystem() {
    const length = this.#field("system").value.length;
    const wrong = length > MAX_SYSTEM_CHARS;
    this.#mark("system", wrong, wrong ? say("tooLong", { count: length, most: MAX_SYSTEM_CHARS }) : "");
    return !wrong;
  }

  /** @param {string} name @param {boolean} wrong @param {string} text */
  #mark(name, wrong, text) {
    this.#field(name).setAttribute("aria-invalid", String(wrong));
    const hint = /** @type {Element} */ (this.root.querySelector(`#hint-${name}`));
    hint.classList.toggle("wrong", wrong);
    setText(hint, text);
  }

  /** @param {string} name */
  #field(name) {
    return /** @type {HTMLInputElement} */ (this.form.elements.namedItem(name));
  }
}
