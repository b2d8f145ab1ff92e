/**
 * "Is your network really streaming?": ticks from the server, drawn as they were sent and as they
 * arrived, and a verdict in plain language with what can be done.
 */

import { judge } from "../measure/probe_verdict.js";
import { spellTime } from "../measure/spelling.js";
import { EVERY_MS, TICKS, probe } from "../stream/probe.js";
import { say, speak } from "../words.js";
import { openDialog } from "./dialog.js";
import { fetchSheet } from "./late_sheet.js";
import { element, setText } from "./parts.js";
import { Strip } from "./strip.js";

/** Some room beyond the last tick; a buffering network may need more and gets it. */
const AXIS_MS = TICKS * EVERY_MS * 1.15;

/** @param {string} page the page's own address */
export async function openSelfCheck(page) {
  await Promise.all([speak(["details"]), fetchSheet("details")]);
  const sent = new Strip();
  const arrived = new Strip();
  const verdict = element("p", "check-verdict", say("checking"));
  verdict.setAttribute("role", "status");
  const advice = element("p", "check-advice");
  const again = element("button", "main", say("checkAgain"));
  again.setAttribute("type", "button");
  const dialog = openDialog(say("checkTitle"), "self-check",
    element("p", "deeper-small", say("checkLead", { count: TICKS, every: EVERY_MS })),
    element("h3", "", say("checkSent")), sent.element, element("h3", "", say("checkArrived")), arrived.element,
    verdict, advice, again);
  const closed = new AbortController();
  dialog.addEventListener("close", () => closed.abort());
  const view = { sent, arrived, verdict, advice, again };
  verdict.tabIndex = -1;
  again.addEventListener("click", () => {
    verdict.focus(); // The button goes away until there is one.
    void run(page, view, closed.signal);
  });
  await run(page, view, closed.signal);
}

// Private

/**
 * @param {string} page
 * @param {{ sent: Strip, arrived: Strip, verdict: HTMLElement, advice: HTMLElement, again: HTMLElement }} view
 * @param {AbortSignal} signal
 */
async function run(page, { sent, arrived, verdict, advice, again }, signal) {
  again.hidden = true;
  setText(verdict, say("checking"));
  setText(advice, "");
  /** @type {import("../measure/probe_verdict.js").Tick[]} */
  let ticks = [];
  const plan = Array.from({ length: TICKS }, (_, i) => mark((i + 1) * EVERY_MS));
  sent.show({ arrivals: plan, now_ms: TICKS * EVERY_MS, ended: true, axis_ms: AXIS_MS });
  sent.drawing.setAttribute("aria-label", say("checkSent"));
  arrived.show({ arrivals: [], now_ms: 0, ended: false, axis_ms: AXIS_MS });
  let failed = "";
  await probe(page, (all) => {
    ticks = all;
    draw(arrived, ticks, false);
  }, signal).catch((error) => (failed = String(error?.message ?? error)));
  if (signal.aborted) return;
  draw(arrived, ticks, true);
  const finding = judge(ticks, TICKS, EVERY_MS);
  const values = { arrived: finding.arrived, count: TICKS, groups: finding.groups, late: spellTime(finding.late_ms), why: failed };
  setText(verdict, say(`check_${finding.verdict}`, values));
  setText(advice, say(`checkAdvice_${finding.verdict}`, values));
  again.hidden = false;
}

/** @param {Strip} strip @param {import("../measure/probe_verdict.js").Tick[]} ticks @param {boolean} ended */
function draw(strip, ticks, ended) {
  const now_ms = ticks.at(-1)?.at_ms ?? 0;
  strip.show({ arrivals: ticks.map(({ at_ms }) => mark(at_ms)), now_ms, ended, axis_ms: Math.max(AXIS_MS, now_ms * 1.02) });
  strip.drawing.setAttribute("aria-label", say("checkArrived"));
}

/** A tick weighs as much as a word. @param {number} at_ms */
const mark = (at_ms) => ({ at_ms, words: 1, tokens: 1 });
