/**
 * Who is here, on the console: numbers, nicknames with the teacher's consent, taking somebody out; and the
 * questions they have handed in, one of which may go on the wall.
 *
 * @typedef {import("../rooms/room_frames.js").Room} Room
 */

import { say } from "../words.js";
import { element, part, setText } from "./parts.js";

export class RoomPeople {
  /** @type {string} */
  #shown = "";

  /** @param {HTMLElement} page @param {(command: object) => void} tell */
  constructor(page, tell) {
    this.page = page;
    this.list = part(page, "people", HTMLElement);
    this.prompts = part(page, "prompts", HTMLElement);
    part(page, "approve-all", HTMLButtonElement).addEventListener("click", () => tell({ type: "approve", number: null }));
    for (const list of [this.list, this.prompts]) {
      list.addEventListener("click", ({ target }) => {
        const button = target instanceof Element ? target.closest("button") : null;
        if (button?.dataset.say) tell(JSON.parse(button.dataset.say));
      });
    }
  }

  /** @param {Room} room */
  show(room) {
    const people = room.participants ?? [];
    const online = people.filter((person) => person.online).length;
    setText(part(this.page, "people-title", HTMLElement), say("peopleTitle", { count: online }));
    part(this.page, "approve-all", HTMLButtonElement).hidden = !people.some(({ nickname, approved }) => nickname && !approved);
    // Rebuilt only when it differs: a button must not vanish under the finger.
    const state = JSON.stringify([people, room.sending?.prompts, room.spotlight?.number]);
    if (state === this.#shown) return;
    this.#shown = state;
    this.list.replaceChildren(...(people.length ? people.map(person) : [element("li", "room-note", say("peopleNone"))]));
    this.prompts.replaceChildren(...promptsOf(room));
  }
}

// Private

/** @param {import("../rooms/room_frames.js").Person} person */
function person({ number, nickname, approved, online }) {
  const item = element("li", online ? "" : "away", element("b", "", String(number)), element("span", "", nickname), element("small", "", online ? "" : say("away")));
  if (nickname) item.append(button(say(approved ? "disapprove" : "approve", { name: "" }).trim(), { type: "approve", number, approved: !approved }, say(approved ? "disapprove" : "approve", { name: nickname })));
  item.append(button(say("kick"), { type: "kick", number }, say("kickLabel", { number })));
  return item;
}

/** @param {Room} room */
function promptsOf({ sending, spotlight }) {
  const prompts = Object.entries(sending?.prompts ?? {});
  if (prompts.length === 0) return [];
  return [element("h3", "", say("promptsTitle")), element("ul", "", ...prompts.map(([number, text]) => {
    const isShown = spotlight?.number === Number(number);
    const item = element("li", "", element("b", "", number), element("span", "", text),
      button(say(isShown ? "unspotlight" : "spotlight"), { type: "spotlight", number: isShown ? null : Number(number) }));
    item.dir = "auto";
    return item;
  }))];
}

/** @param {string} text @param {object} command @param {string} [label] */
function button(text, command, label) {
  const made = element("button", "quiet", text);
  made.setAttribute("type", "button");
  made.dataset.say = JSON.stringify(command);
  if (label) made.setAttribute("aria-label", label);
  return made;
}
