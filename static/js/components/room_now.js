/**
 * The console's middle: where the lesson is, the one large button, what to say, who has voted, hands, and
 * the result once it is closed. Nothing of an open vote but its number is ever here.
 *
 * @typedef {import("../rooms/room_frames.js").Room} Room
 */

import { backPhase, isResting, nextPhase } from "../rooms/next_step.js";
import { say } from "../words.js";
import { element, part, setText } from "./parts.js";
import { showTrouble } from "./room_race.js";
import { predictionOf, resultsOf } from "./room_results.js";
import { showPhases } from "./room_screen.js";

/** The stopping rule of the lesson plan. */
const ENOUGH = 0.9;

/** @param {HTMLElement} page @param {Room} room */
export function showNow(page, room) {
  const { round, phase } = room;
  const revoting = phase === "vote" && round?.ballot === "revote";
  showPhases(part(page, "phases", HTMLElement), room);
  setText(part(page, "now", HTMLElement), room.closed ? say("nowClosed") : revoting ? say("nowRevote") : phase === "idle" ? say("nothingOpen") : say(`now_${phase}`));
  setText(part(page, "voted", HTMLElement), countOf(room));
  const next = nextPhase(room);
  const name = next === null ? "next_open" : phase === "discuss" && next === "vote" ? "next_again" : `next_${next}`;
  setText(part(page, "next-label", HTMLElement), say(name));
  part(page, "next", HTMLButtonElement).hidden = room.closed || (next === null && !isResting(phase));
  const back = part(page, "back", HTMLButtonElement);
  back.hidden = backPhase(room) === null;
  setText(back, say("backWatch"));
  part(page, "stop", HTMLButtonElement).hidden = phase === "idle" || next === "idle";
  showTrouble(part(page, "trouble", HTMLElement), round);
  const notes = say(`note_${revoting ? "revote" : phase}`).split("\n");
  part(page, "notes", HTMLElement).replaceChildren(...notes.map((text) => element("p", "", text)));
  showResults(page, room);
  showTally(page, room);
}

// Private

/** @param {Room} room */
function countOf({ round, sending, phase }) {
  if (phase === "collect" && sending) return sending.prompt ? sending.prompt : say("promptCount", { count: sending.num_prompts ?? 0 });
  if (phase !== "vote" || !round) return "";
  const count = round.could_vote ?? 0;
  const voted = round.voted ?? 0;
  const words = say("votedCount", { voted, count });
  return count > 0 && voted >= ENOUGH * count ? say("votedEnough", { words, enough: say("enough") }) : words;
}

/** @param {HTMLElement} page @param {Room} room */
function showResults(page, { round, phase }) {
  const root = part(page, "results", HTMLElement);
  if (!round || (phase !== "reveal" && phase !== "discuss")) return root.replaceChildren();
  const prediction = predictionOf(round);
  root.replaceChildren(...resultsOf(round, { withCaveats: true }), ...(prediction ? [prediction] : []));
}

/** @param {HTMLElement} page @param {Room} room */
function showTally(page, { round, phase, hands_only }) {
  const isOpen = round !== null && (phase === "vote" || phase === "reveal" || phase === "discuss");
  part(page, "tally", HTMLElement).hidden = !isOpen || (!hands_only && phase !== "vote" && !round?.hands);
  const hands = round?.hands;
  setText(part(page, "tally-note", HTMLElement), hands ? say("tallyKept", { first: hands.first, second: hands.second, same: hands.same }) : "");
}
