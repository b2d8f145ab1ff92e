/**
 * One thing at a time: the page's sections, of which one is shown; the room's phases as a row; and the
 * status line. What they say is handed in.
 */

import { phasesOf } from "../rooms/next_step.js";
import { say } from "../words.js";
import { element, part, setText } from "./parts.js";

/** @param {HTMLElement} page @param {string} name */
export function showScreen(page, name) {
  page.dataset.screen = name;
  for (const section of page.querySelectorAll("[data-for]")) {
    /** @type {HTMLElement} */ (section).hidden = section.getAttribute("data-for") !== name;
  }
}

/** @param {HTMLElement} page @param {import("../rooms/room_status.js").Status} status @param {boolean} [frozen] */
export function showStatus(page, status, frozen = false) {
  const line = part(page, "status", HTMLElement);
  line.dataset.status = frozen && status === "live" ? "frozen" : status;
  setText(line, frozen && status === "live" ? say("statusFrozen") : say(`status_${status}`));
}

/** @param {HTMLElement} list @param {import("../rooms/room_frames.js").Room} room */
export function showPhases(list, room) {
  const isOpen = room.round !== null || room.sending !== null;
  list.hidden = !isOpen;
  list.setAttribute("aria-label", say("phaseTrack"));
  list.replaceChildren(...phasesOf(room).map((phase) => {
    const item = element("li", "", say(`phase_${phase}`));
    if (phase === room.phase) item.setAttribute("aria-current", "step");
    return item;
  }));
}

/** A page in which something must be said in large letters, with a button or without.
 * @param {HTMLElement} page @param {string} title @param {string} text */
export function showMessage(page, title, text) {
  showScreen(page, "message");
  setText(part(page, "message-title", HTMLElement), title);
  setText(part(page, "message-text", HTMLElement), text);
}
