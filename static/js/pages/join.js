/**
 * A student's phone: the way in, and then whatever the room's state asks for, one thing at a time. Nothing
 * is decided here but which screen is shown. The code comes by hand or in the fragment: /j#CODE.
 */

import { mountLanguage } from "../components/language.js";
import { part, setText } from "../components/parts.js";
import { RoomChoice } from "../components/room_choice.js";
import { mountClosing } from "../components/room_closing.js";
import { mountEntry } from "../components/room_entry.js";
import { RoomFelt } from "../components/room_felt.js";
import { OwnAnswer } from "../components/room_own_answer.js";
import { askedOf, RoomRace, showTrouble } from "../components/room_race.js";
import { RoomRefusal } from "../components/room_refusal.js";
import { predictionOf, resultsOf } from "../components/room_results.js";
import { showMessage, showScreen, showStatus } from "../components/room_screen.js";
import { forget, recall, remember } from "../rooms/own_id.js";
import { Door } from "../rooms/door.js";
import { RoomLine } from "../rooms/room_line.js";
import { Sight } from "../rooms/sight.js";
import { Wishes } from "../rooms/wishes.js";
import { fillWords, say, speak } from "../words.js";

/**
 * @typedef {import("../rooms/room_frames.js").Room} Room
 * @typedef {import("../rooms/room_frames.js").Round} Round
 * @typedef {import("../rooms/room_frames.js").Me} Me
 */

const page = document.body;
await speak(["common", "race", "failures", "rooms", "rooms_join"]);
fillWords(document);
mountLanguage(part(page, "language", HTMLSelectElement));
const door = new Door(location.href);
const button = part(page, "message-button", HTMLButtonElement);
const enter = mountEntry(page, async (code) => {
  const { id } = await door.join(code, recall(code));
  remember(code, id);
  history.replaceState(null, "", `#${code}`);
  live(code, id);
});
await enter.begin(location.hash);
addEventListener("hashchange", () => location.reload());
page.dataset.state = "ready";

/** @param {string} code @param {string} id */
function live(code, id) {
  /** @type {Me | null} */
  let me = null;
  /** @type {import("../rooms/room_frames.js").Line | null} */
  let sent = null;
  const line = new RoomLine(door.socket(code), () => ({ role: "participant", id }), {
    frame(frame) {
      // With the first pong the clock is set, and what waits for it can begin.
      if (frame.type === "room" || frame.type === "pong") draw();
      else if (frame.type === "me") (me = frame), draw();
      else if (frame.type === "text") race.hear(frame);
      else if (frame.type === "line") (sent = frame), draw();
      else if (frame.type === "welcome") again();
      else if (frame.type === "error") refused(frame);
    },
    status(status) {
      showStatus(page, status, line?.room?.frozen);
      if (status === "ended" || status === "kicked" || status === "replaced" || status === "refused") end(status);
      else if (line) draw();
    },
  });
  const tell = (/** @type {object} */ command) => line.say(command);
  const refusal = new RoomRefusal(part(page, "refused", HTMLElement));
  /** What is said because a button was pressed: where nobody hears it, the phone says so. @param {object} command @returns {boolean} */
  const press = (command) => {
    refusal.clear();
    const isHeard = tell(command);
    if (!isHeard) refusal.unheard(line.room);
    return isHeard;
  };
  const wishes = new Wishes(tell);
  const sight = new Sight(tell, () => line.clock.error_ms);
  const race = new RoomRace(part(page, "watch", HTMLElement), line.clock, (lane, since_ms) => {
    if (page.dataset.screen === "watch") sight.paint(lane, since_ms);
  });
  const closing = mountClosing(part(page, "closing", HTMLElement), line.clock);
  const own = new OwnAnswer(page, line.clock, tell, press);
  const felt = new RoomFelt(page, (first_s, second_s) => press({ type: "felt", round: line.room?.round?.id, first_s, second_s }));
  const choice = new RoomChoice(page, (chosen) => {
    const round = line.room?.round;
    refusal.clear();
    if (round?.ballot) wishes.vote(round.id, round.ballot, chosen);
    draw();
  });
  const controls = new AbortController();
  const { signal } = controls;
  document.addEventListener("visibilitychange", () => document.hidden && sight.hide(), { signal });
  part(page, "ask-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    press({ type: "ask", text: part(page, "ask", HTMLTextAreaElement).value });
  }, { signal });
  part(page, "nickname", HTMLButtonElement).addEventListener("click", () => press({ type: "nickname", wanted: true }), { signal });
  part(page, "leave", HTMLButtonElement).addEventListener("click", () => {
    if (!press({ type: "leave" })) return;
    forget(code);
    end("left");
  }, { signal });

  /** A new socket: what is not counted yet is said once more. */
  function again() {
    wishes.repeat();
    sight.tell();
    own.takeBack();
  }

  /** @param {import("../rooms/room_frames.js").Refusal} why */
  function refused(why) {
    if (why.about === "send_own") own.takeBack();
    if (why.about === "felt") felt.takeBack();
    // What is counted by now was said twice, and only the second time refused.
    if (why.about !== "vote" || wishes.refused(line.room, me)) refusal.hear(why, line.room);
    draw();
  }

  function draw() {
    const { room } = line;
    if (!room || !me) return;
    showStatus(page, line.status, room.frozen);
    showFoot(me);
    sight.show(room, me.watcher, document.hidden);
    own.show(room, me, sent);
    closing.show(room);
    refusal.show(room);
    if (room.round?.stimulus && me.card) race.show(room.round, me.card.order);
    if (room.closed) return end("ended");
    if (room.blank) return showMessage(page, say("blankTitle"), say("blankText"));
    if (room.hands_only) return showMessage(page, say("handsTitle"), say("handsText"));
    if (room.round) drawRound(room, room.round, me);
    else if (room.sending) drawSending(room, me);
    else showMessage(page, say("waitTitle"), say(room.frozen ? "frozenNote" : "waitText"));
  }

  /** @param {Room} room @param {Round} round @param {Me} mine */
  function drawRound(room, round, mine) {
    switch (room.phase) {
      case "predict":
        return round.ask_prediction ? drawBallot(room, round, mine) : showMessage(page, say("watchSoon"), say("waitText"));
      case "watch":
        if (!round.mirror) return showMessage(page, say("wallTitle"), say("wallText"));
        showScreen(page, "watch");
        setText(part(page, "watch-asked", HTMLElement), mine.watcher ? askedOf(round) : say("lateNote"));
        return showTrouble(part(page, "trouble", HTMLElement), round);
      case "vote":
        return mine.watcher ? drawBallot(room, round, mine) : showMessage(page, say("lateTitle"), say("lateNote"));
      default:
        return drawResults(round);
    }
  }

  /** @param {Room} room @param {Round} round @param {Me} mine */
  function drawBallot(room, round, mine) {
    const ballot = /** @type {"predict" | "vote" | "revote"} */ (round.ballot);
    showScreen(page, "choice");
    setText(part(page, "asked", HTMLElement), askedOf(round));
    const pending = wishes.pending(room, mine);
    const counted = mine.card?.[ballot] ?? null;
    const usual = ballot === "predict" ? "predictNote" : ballot === "revote" && !counted ? "revoteNote" : counted ? "voteKept" : "voteNote";
    const note = room.frozen ? "frozenNote" : pending ? (line.status !== "reconnecting" ? "voteSending" : "voteOffline") : usual;
    const kind = round.question === "rather" ? "Rather" : "Faster";
    choice.show(say(`${ballot === "predict" ? "predict" : "vote"}${kind}`), choicesOf(round, ballot), pending ?? counted, { can: !room.frozen, note: say(note) });
    felt.show(round.id, ballot === "vote" && round.ask_felt && counted !== null && !room.frozen);
  }

  /** @param {Room} room @param {Me} mine */
  function drawSending(room, mine) {
    const { sending } = room;
    if (room.phase !== "collect" || !sending) {
      showScreen(page, "own");
      setText(part(page, "own-asked", HTMLElement), mine.sending?.prompt ?? "");
    } else if (sending.prompt !== null) showMessage(page, say("askCommon"), sending.prompt);
    else {
      showScreen(page, "ask");
      setText(part(page, "ask-note", HTMLElement), room.frozen ? say("frozenNote") : mine.sending?.prompt ? say("askKept") : "");
    }
  }

  /** @param {"ended" | "kicked" | "replaced" | "refused" | "left"} why */
  function end(why) {
    controls.abort();
    line.close();
    refusal.clear();
    showMessage(page, say(`${why}Title`), say(`${why}Text`));
    part(page, "foot", HTMLElement).hidden = true;
    button.hidden = why === "ended";
    setText(button, say(why === "replaced" ? "takeOver" : "joinAgain"));
    button.onclick = () => location.reload();
  }
}

/** @param {Round} round @param {string} ballot @returns {[string, string][]} lanes' names before watching, positions afterwards */
function choicesOf({ lanes }, ballot) {
  if (ballot !== "predict") return [["1", "1"], ["2", "2"], ["same", say("cannotTell")]];
  return [["a", lanes?.a.label || say("laneA")], ["b", lanes?.b.label || say("laneB")], ["same", say("noDifference")]];
}

/** @param {Round} round */
function drawResults(round) {
  showScreen(page, "results");
  const prediction = predictionOf(round);
  setText(part(page, "results-title", HTMLElement), say("resultTitle"));
  part(page, "results", HTMLElement).replaceChildren(...resultsOf(round, { withCaveats: false }), ...(prediction ? [prediction] : []));
}

/** @param {Me} me */
function showFoot({ number, nickname }) {
  part(page, "foot", HTMLElement).hidden = false;
  setText(part(page, "who", HTMLElement), nickname ? say("youNamed", { name: nickname, number }) : say("you", { number }));
  setText(part(page, "nickname", HTMLButtonElement), say(nickname ? "nicknameAgain" : "nicknameWish"));
}
