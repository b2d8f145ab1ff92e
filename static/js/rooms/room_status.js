/**
 * What a phone says about its connection, always: live, reconnecting, teacher away, or over. Pure; it is
 * handed what the socket knows.
 *
 * @typedef {"live" | "reconnecting" | "host_lost" | "ended" | "kicked" | "replaced" | "refused"} Status
 */

/** Nothing heard for so long: the room counts as lost. The server gives a sign of life every ten seconds. */
export const SILENCE_MS = 20_000;
const FIRST_MS = 500;
const LONGEST_MS = 10_000;

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
 * How long to wait before the next try: a class that loses its server must not come back as one man.
 * @param {number} failures in a row, from 0
 * @param {number} chance uniform in [0, 1)
 */
export function waitToRetry(failures, chance) {
  const most = Math.min(LONGEST_MS, FIRST_MS * 2 ** (failures + 1));
  return Math.round(FIRST_MS + chance * (most - FIRST_MS));
}
