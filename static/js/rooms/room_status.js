/**
 * What a phone says about its connection, always: live, reconnecting, teacher away, or over. Pure; it is
 * handed what the socket knows.
 *
 * @typedef {"live" | "reconnecting" | "host_lost" | "ended" | "kicked" | "replaced" | "refused"} Status
 */

/** Nothing heard for so long: the room counts as lost. The server gives a sign of life every ten seconds. */
export const SILENCE_MS = 20_000;
const FIRST_MS = 500;
const SOON_MS = 2000;
/** A phone's place in the line of a class that comes back. */
const EACH_MS = 33;
/** So long that 500 phones are fewer than 60 a second, those included that come back too early. */
const LONGEST_MS = 20_000;
/** The server's close code for "I am started again". */
const RESTARTS = 1012;

/**
 * @param {{ open: boolean, closeCode: number | null, silent_ms: number }} socket `silent_ms` since anything was heard
 * @param {{ closed: boolean, host_online: boolean } | null} room the newest state
 * @returns {Status}
 */
export function statusOf({ open, closeCode, silent_ms }, room) {
  const final = finalStatus(closeCode);
  if (final) return final;
  if (room?.closed) return "ended";
  if (room && silent_ms >= SILENCE_MS) return "host_lost";
  if (!open || !room) return "reconnecting";
  return room.host_online ? "live" : "host_lost";
}

/** @param {number | null} closeCode @returns {Status | null} null: it is worth trying again */
export function finalStatus(closeCode) {
  switch (closeCode) {
    case 1000:
    case 4404:
      return "ended";
    case 4403:
      return "kicked";
    case 4409:
      return "replaced";
    case 4401:
      return "refused";
    default:
      return null;
  }
}

/**
 * How long to wait before the next try. A phone that has lost its own network is back soon; a class that has
 * lost its server must not come back as one man: so the first wait grows with the class, to thirty phones a
 * second, and is long when the server says that it goes, or was not found again.
 * @param {number} failures in a row, from 0
 * @param {number | null} closeCode of the socket that was lost
 * @param {number} people in the room; 0: not known
 * @param {number} chance uniform in [0, 1)
 */
export function waitToRetry(failures, closeCode, people, chance) {
  const soon = Math.min(LONGEST_MS, Math.max(SOON_MS, people * EACH_MS));
  const most = failures === 0 && closeCode !== RESTARTS ? soon : LONGEST_MS;
  return Math.round(FIRST_MS + chance * (most - FIRST_MS));
}
