/**
 * The console's side: the way in and the wall, the teacher's hand on the room, taking results away, closing
 * and deleting. What destroys something asks to be pressed twice.
 *
 * @typedef {import("../rooms/room_frames.js").Room} Room
 */

import { recall, remember } from "../remembered.js";
import { spellCode } from "../rooms/join_code.js";
import { say } from "../words.js";
import { lettersAreOn, turnLetters } from "./letters.js";
import { part, setText } from "./parts.js";
import { chooseBase, isLocal } from "./room_lobby.js";

const SURE_MS = 4000;
const HOLDS = /** @type {const} */ (["freeze", "blank", "hide_count", "hands_only"]);
/** How the state calls what a command calls otherwise. @type {Record<string, keyof Room>} */
const STATE = { freeze: "frozen", blank: "blank", hide_count: "hide_count", hands_only: "hands_only" };

export class RoomSide {
  /** @type {Room | null} */
  #room = null;
  /** @type {string[]} */
  #bases = [];

  /**
   * @param {HTMLElement} page
   * @param {import("../rooms/door.js").Door} door
   * @param {(command: object) => void} tell
   */
  constructor(page, door, tell) {
    this.page = page;
    this.door = door;
    this.tell = tell;
    part(page, "holds", HTMLElement).addEventListener("click", ({ target }) => {
      const name = target instanceof HTMLElement ? HOLDS.find((hold) => hold === target.dataset.hold) : undefined;
      if (name) this.toggle(name);
    });
    const letters = part(page, "letters", HTMLInputElement);
    letters.checked = lettersAreOn();
    letters.addEventListener("change", () => turnLetters(letters.checked));
    sure(part(page, "close-room", HTMLButtonElement), "closeRoom", "closeSure", () => tell({ type: "close_room" }));
    sure(part(page, "delete-room", HTMLButtonElement), "deleteRoom", "deleteSure", () => tell({ type: "delete_room" }));
    part(page, "elsewhere", HTMLButtonElement).addEventListener("click", () => this.#elsewhere());
    part(page, "base", HTMLSelectElement).addEventListener("change", ({ target }) => {
      remember("room.base", /** @type {HTMLSelectElement} */ (target).value);
      this.#drawAddress();
    });
    setText(part(page, "side-note", HTMLElement), say("keysHint"));
  }

  /** @param {typeof HOLDS[number]} name */
  toggle(name) {
    const room = this.#room;
    if (room) this.tell({ type: "hold", [name]: !room[/** @type {"frozen"} */ (STATE[name])] });
  }

  /** @param {Room} room */
  show(room) {
    const isFirst = this.#room === null;
    this.#room = room;
    const { page } = this;
    setText(part(page, "room-title", HTMLElement), room.title || say("roomUnnamed"));
    setText(part(page, "code", HTMLElement), spellCode(room.code));
    part(page, "wall", HTMLAnchorElement).href = `wall#${room.code}.${room.wall_token ?? ""}`;
    part(page, "csv", HTMLAnchorElement).href = this.door.file(room.code, "csv");
    part(page, "json", HTMLAnchorElement).href = this.door.file(room.code, "json");
    part(page, "close-room", HTMLButtonElement).disabled = room.closed;
    for (const button of part(page, "holds", HTMLElement).querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(room[/** @type {keyof Room} */ (STATE[button.dataset.hold ?? ""])] === true));
    }
    if (isFirst) this.refresh();
  }

  /** The machine may have another address by now. */
  async refresh() {
    if (!this.#room) return;
    this.#bases = await this.door.addresses(this.#room.code);
    const select = part(this.page, "base", HTMLSelectElement);
    const all = [...new Set([...this.#bases, ...(isLocal(location.origin) && this.#bases.length ? [] : [location.origin])])];
    select.replaceChildren(...all.map((base) => new Option(isLocal(base) ? say("baseHere", { base }) : base, base)));
    part(this.page, "base-row", HTMLElement).hidden = all.length < 2;
    this.#drawAddress();
  }

  // Private

  #drawAddress() {
    const base = chooseBase(this.#bases, location.origin, recall("room.base", ""));
    part(this.page, "base", HTMLSelectElement).value = base;
    setText(part(this.page, "address", HTMLElement), isLocal(base) ? say("baseLocal", { base }) : `${base}/j`);
  }

  async #elsewhere() {
    if (!this.#room) return;
    const key = await this.door.key(this.#room.code);
    const base = chooseBase(this.#bases, location.origin, recall("room.base", ""));
    setText(part(this.page, "side-note", HTMLElement), say("elsewhereLink", { link: `${base}/teach#${this.#room.code}.${key}` }));
  }
}

// Private

/**
 * A button that acts when it is pressed twice in a row.
 * @param {HTMLButtonElement} button @param {string} name @param {string} question @param {() => void} act
 */
function sure(button, name, question, act) {
  let asked = false;
  const calm = () => {
    asked = false;
    setText(button, say(name));
  };
  button.addEventListener("click", () => {
    if (asked) {
      calm();
      return act();
    }
    asked = true;
    setText(button, say(question));
    setTimeout(calm, SURE_MS);
  });
}
