/**
 * The way in, on the wall: QR code, address, the code larger than both, how many are here; and the same in
 * one small line while the lesson runs. The address is asked for again and again: a host that changes its
 * network gets another one, and the room stays.
 */

import { recall } from "../remembered.js";
import { spellCode } from "../rooms/join_code.js";
import { say } from "../words.js";
import { part, setText } from "./parts.js";

const ASK_EVERY_MS = 15_000;

/** Where phones shall go: what the teacher chose, else what the server offers, else where this page is.
 * @param {string[]} bases @param {string} here @param {string} chosen */
export function chooseBase(bases, here, chosen) {
  if (bases.includes(chosen)) return chosen;
  if (bases.includes(here) || !isLocal(here)) return here;
  return bases[0] ?? here;
}

/** @param {string} base @returns {boolean} nobody else reaches it */
export function isLocal(base) {
  return /^https?:\/\/(localhost|127\.|\[::1\])/.test(base);
}

/**
 * @param {HTMLElement} page
 * @param {import("../rooms/door.js").Door} door
 * @param {string} code
 */
export function mountWallLobby(page, door, code) {
  /** @type {string[]} */
  let bases = [];
  const picture = part(page, "qr", HTMLImageElement);
  const draw = () => {
    const base = chooseBase(bases, location.origin, recall("room.base", ""));
    const short = `${base.replace(/^https?:\/\//, "")}/j`;
    const source = door.qr(code, base);
    if (picture.src !== source) picture.src = source;
    picture.alt = say("qrLabel", { address: `${short}#${code}` });
    setText(part(page, "address", HTMLElement), short);
    setText(part(page, "code", HTMLElement), spellCode(code));
    setText(part(page, "join-line", HTMLElement), say("joinLine", { address: short, code: spellCode(code) }));
    setText(part(page, "lobby-alert", HTMLElement), isLocal(base) ? say("lobbyHere") : "");
  };
  const refresh = async () => {
    bases = await door.addresses(code);
    draw();
  };
  draw();
  setInterval(refresh, ASK_EVERY_MS);
  addEventListener("storage", draw);
  refresh();
  return {
    refresh,
    /** @param {import("../rooms/room_frames.js").Room} room */
    show(room) {
      const { count } = room;
      setText(part(page, "count", HTMLElement), room.hands_only ? say("lobbyHands") : typeof count === "number" ? say("countHere", { count }) : "");
    },
  };
}
