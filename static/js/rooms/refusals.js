/**
 * What a phone or the console says when the server has not taken a press: which of its own sentences, by the
 * error's code and field and never in the server's English, and for how long it is true. What was pressed by
 * nobody (measurements, pings) is settled without words. Pure.
 *
 * @typedef {import("./room_frames.js").Room} Room
 * @typedef {import("./room_frames.js").Refusal} Refusal
 */

import { isResting } from "./next_step.js";

const PRESSES = new Set(["vote", "felt", "ask", "send_own", "nickname", "leave"]);

/** A phone's refused press: what was pressed and the field that the server names. */
const PRESSED = new Map(Object.entries({
  "vote round": "refusedLate", "vote ballot": "refusedLate", "vote type": "lateNote",
  "felt round": "refusedLate", "felt type": "refusedLate",
  "nickname wanted": "refusedNicknames",
  "ask type": "refusedAskLate", "ask text": "refusedAskEmpty",
  "send_own type": "refusedSendOwn",
}));
/** The same for the teacher's commands; all others that do not fit have been overtaken by the lesson. */
const STEERED = new Map(Object.entries({
  "open_round plan.prompt": "troubleNoQuestion", "open_sending plan.prompt": "troubleNoQuestion",
  "spotlight number": "troublePerson", "approve number": "troublePerson",
}));
const OVERTAKEN = new Set(["type", "since", "to"]);

/**
 * @param {Refusal} refusal
 * @param {Room | null} room as it was told last
 * @returns {string | null} null: no press was refused
 */
export function refusalWord({ code, about, param }, room) {
  if (!PRESSES.has(about)) return null;
  if (code === "rate_limited") return "refusedRate";
  if (code === "not_found") return "refusedGone";
  // The server may have been held before this phone has heard of it.
  if (room?.frozen || param === "frozen") return "refusedFrozen";
  if (about === "vote" && !room?.round?.ballot) return "refusedLate";
  return PRESSED.get(`${about} ${param}`) ?? "refusedOther";
}

/**
 * What the console says when the room has not done what the teacher wanted.
 * @param {Refusal} refusal
 * @param {Room | null} room as it was told last
 * @returns {string}
 */
export function troubleWord({ code, about, param }, room) {
  if (code === "rate_limited") return "troubleRate";
  if (code === "not_found") return "roomGone";
  const word = STEERED.get(`${about} ${param}`);
  if (word) return word;
  if (about === "advance" && param === "to" && room?.phase === "collect") return "troubleNobodyWrote";
  if (about.startsWith("open_") && param === "type" && isResting(room?.phase ?? "watch")) return "troubleFull";
  return OVERTAKEN.has(param ?? "") ? "troubleMoved" : "troubleOther";
}

/** What a phone says that was not let in. @param {string} code */
export const entryWord = (code) =>
  ({ not_found: "enterUnknown", rate_limited: "enterRate", overloaded: "enterFull" })[code] ?? "enterRefused";

/** What a sentence about a press belongs to: when the room goes on it is no news any more.
 * @param {Room | null} room @returns {string} */
export function momentOf(room) {
  return room ? `${room.phase} ${room.round?.id ?? ""} ${room.round?.ballot ?? ""} ${room.sending?.id ?? ""}` : "";
}
