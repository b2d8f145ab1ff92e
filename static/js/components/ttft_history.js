/**
 * First words of a conversation, drawn: one column a reply, as high as its reader waited; streamed ones
 * are filled, those that came all at once are hatched frames. The same as a table for everybody else.
 *
 * @typedef {import("../measure/history.js").Wait} Wait
 */

import { usualWait } from "../measure/history.js";
import { spellTime } from "../measure/spelling.js";
import { say, speak } from "../words.js";
import { fetchSheet } from "./late_sheet.js";
import { element, svg } from "./parts.js";

const HEIGHT = 44;
const STEP = 14;
const COLUMN = 10;
/** Older ones scroll out of the drawing, not out of the table. */
const MAX_COLUMNS = 60;

/** @param {HTMLElement} root @param {Wait[]} waits at least one */
export async function showHistory(root, waits) {
  await Promise.all([speak(["details"]), fetchSheet("details")]);
  const wasOpen = root.querySelector("details")?.open ?? false;
  const details = /** @type {HTMLDetailsElement} */ (element("details", "history",
    element("summary", "", element("span", "", summaryOf(waits)), drawing(waits.slice(-MAX_COLUMNS))), table(waits)));
  details.open = wasOpen;
  const hadFocus = root.contains(document.activeElement);
  root.replaceChildren(details);
  if (hadFocus) details.querySelector("summary")?.focus();
}

// Private

/** @param {Wait[]} waits */
function summaryOf(waits) {
  const parts = /** @type {const} */ (["streamed", "whole"]).flatMap((mode) => {
    const { count, median_ms } = usualWait(waits, mode);
    return count ? [say("historyMode", { mode: say(mode), time: spellTime(median_ms), count })] : [];
  });
  return say("historySummary", { parts: parts.join(" · ") });
}

/** @param {Wait[]} waits */
function drawing(waits) {
  const most = Math.max(...waits.map(({ first_ms }) => first_ms));
  const columns = waits.map(({ mode, first_ms }, i) => {
    const height = Math.max(2, (first_ms / most) * (HEIGHT - 2));
    return svg("rect", { class: `column-${mode}`, x: i * STEP + 1, y: (HEIGHT - height).toFixed(1), width: COLUMN, height: height.toFixed(1) });
  });
  const width = waits.length * STEP + 2;
  return svg("svg", { class: "history-drawing", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, "aria-hidden": "true" }, ...columns);
}

/** @param {Wait[]} waits */
function table(waits) {
  const head = element("tr", "", ...["historyReply", "delivery", "firstWord", "lastWord"].map((name) => heading("col", say(name))));
  const rows = waits.map(({ place, mode, first_ms, last_ms }) => element("tr", "", heading("row", String(place)),
    element("td", "", say(mode)), element("td", "", spellTime(first_ms)), element("td", "", spellTime(last_ms))));
  return element("table", "history-table", element("thead", "", head), element("tbody", "", ...rows));
}

/** @param {string} scope @param {string} text */
function heading(scope, text) {
  const cell = element("th", "", text);
  cell.setAttribute("scope", scope);
  return cell;
}
