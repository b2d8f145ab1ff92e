/**
 * What a phone says when the server has not taken a press: which of its own sentences, and for how long it
 * is true. What was pressed by nobody (measurements, pings) is settled without words. Pure.
 *
 * @typedef {import("./room_frames.js").Room} Room
 * @typedef {import("./room_frames.js").Refusal} Refusal
 */

const PRESSES = new Set(["vote", "felt", "ask", "send_own", "nickname", "leave"]);

/**
 * @param {Refusal} refusal
 * @param {Room | null} room as it was told last
 * @returns {"refusedRate" | "refusedFrozen" | "refusedLate" | "refusedWhy" | null} null: no press was refused
 */
export function refusalWord({ code, about }, room) {
  if (!PRESSES.has(about)) return null;
  if (code === "rate_limited") return "refusedRate";
  if (room?.frozen) return "refusedFrozen";
  if (about === "vote" && !room?.round?.ballot) return "refusedLate";
  return "refusedWhy";
}

/** What a sentence about a press belongs to: when the room goes on it is no news any more.
 * @param {Room | null} room @returns {string} */
export function momentOf(room) {
  return room ? `${room.phase} ${room.round?.id ?? ""} ${room.round?.ballot ?? ""} ${room.sending?.id ?? ""}` : "";
}
