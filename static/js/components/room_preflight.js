/**
 * The look before the lesson, as a sheet: what is being checked, what came out, and whether that is enough.
 */

import { spellTime } from "../measure/spelling.js";
import { judge, measureBandwidth, OPEN_S } from "../rooms/preflight.js";
import { httpAddress } from "../stream/address.js";
import { say } from "../words.js";
import { element, part, setText } from "./parts.js";

/** @typedef {import("../rooms/preflight.js").Finding} Finding */

const CHECKS = /** @type {const} */ (["socket", "way", "bandwidth", "clock", "secure"]);

/**
 * @param {HTMLElement} page
 * @param {{ clock: import("../rooms/room_clock.js").RoomClock, drops: () => number } | null} line null: no room is open
 */
export async function openPreflight(page, line) {
  const sheet = part(page, "preflight-sheet", HTMLDialogElement);
  const rows = new Map(CHECKS.map((check) => [check, element("span", "check-value", say("checkRunning"))]));
  part(page, "checks", HTMLElement).replaceChildren(...CHECKS.map((check) =>
    element("li", "", element("span", "", say(`check_${check}`)), /** @type {HTMLElement} */ (rows.get(check)))));
  const note = part(page, "preflight-note", HTMLElement);
  setText(note, line ? "" : say("preflightNoRoom"));
  sheet.showModal();

  /** @param {typeof CHECKS[number]} check @param {string} text @param {Finding["verdict"] | ""} [verdict] */
  const tell = (check, text, verdict = "") => {
    const row = /** @type {HTMLElement} */ (rows.get(check));
    row.dataset.verdict = verdict;
    setText(row, verdict ? `${text} · ${say(`verdict_${verdict}`)}` : text);
  };
  tell("secure", say(isSecureContext ? "checkSecureYes" : "checkSecureNo"));
  try {
    const rate = await measureBandwidth(httpAddress(location.href, "api/preflight"));
    tell("bandwidth", say("checkMegabits", { value: rate.toFixed(rate < 10 ? 1 : 0) }), judge("bandwidth", rate).verdict);
  } catch {
    tell("bandwidth", say("none"), "bad");
  }
  if (!line) return ["socket", "way", "clock"].forEach((check) => tell(/** @type {any} */ (check), say("none")));
  const way_ms = 2 * line.clock.error_ms;
  tell("way", spellTime(way_ms), judge("way", way_ms).verdict);
  tell("clock", spellTime(line.clock.error_ms), judge("clock", line.clock.error_ms).verdict);
  watchSocket(sheet, line.drops, tell, note);
}

// Private

/**
 * The room's own line, watched for a minute.
 * @param {HTMLDialogElement} sheet
 * @param {() => number} drops of the line so far
 * @param {(check: "socket", text: string, verdict?: Finding["verdict"]) => void} tell
 * @param {HTMLElement} note
 */
function watchSocket(sheet, drops, tell, note) {
  const before = drops();
  const begun_ms = performance.now();
  const timer = setInterval(() => {
    const count = Math.min(OPEN_S, Math.floor((performance.now() - begun_ms) / 1000));
    const broke = drops() !== before;
    if (broke) tell("socket", say("checkSocketBroke", { count }), "bad");
    else tell("socket", say("checkSocket", { count, of: OPEN_S }), count >= OPEN_S ? "well" : undefined);
    if (broke || count >= OPEN_S) setText(note, say("preflightDone"));
    if (broke || count >= OPEN_S || !sheet.open) clearInterval(timer);
  }, 500);
}
