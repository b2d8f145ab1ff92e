/**
 * The projector's page: it draws whatever the room's state says, for the last row. It says nothing to the
 * room. Its token comes in the fragment: /wall#CODE.TOKEN.
 */

import { mountClosing } from "../components/room_closing.js";
import { mountWallLobby } from "../components/room_lobby.js";
import { part, setText } from "../components/parts.js";
import { mountTeacherKeys } from "../components/room_keys.js";
import { askedOf, RoomRace, showTrouble } from "../components/room_race.js";
import { predictionOf, resultsOf } from "../components/room_results.js";
import { showMessage, showPhases, showScreen, showStatus } from "../components/room_screen.js";
import { WallSending } from "../components/room_sending.js";
import { RoomSpread } from "../components/room_spread.js";
import { handOn } from "../rooms/clicker.js";
import { Door } from "../rooms/door.js";
import { readFragment } from "../rooms/join_code.js";
import { RoomLine } from "../rooms/room_line.js";
import { fillWords, say, speak } from "../words.js";

/** @typedef {import("../rooms/room_frames.js").Room} Room @typedef {import("../rooms/room_frames.js").Round} Round */

const page = document.body;
await speak(["common", "race", "failures", "rooms", "rooms_wall"]);
fillWords(document);
// Projected until somebody chooses otherwise.
if (document.documentElement.dataset.theme === "auto") document.documentElement.dataset.theme = "projector";
const door = new Door(location.href);
const address = readFragment(location.hash);
const wallSending = new WallSending(page);
const spreads = ["a", "b"].map((lane) => {
  const root = part(page, `painted-${lane}`, HTMLElement);
  return { title: /** @type {HTMLElement} */ (root.querySelector("h4")), spread: new RoomSpread(root, true) };
});
if (address) start(address.code, address.secret);
else showMessage(page, say("wallLostTitle"), say("wallLostText"));
page.dataset.state = "ready";

/** @param {string} code @param {string} token */
function start(code, token) {
  mountTeacherKeys(page, handOn(code));
  const lobby = mountWallLobby(page, door, code);
  const line = new RoomLine(door.socket(code), () => ({ role: "wall", token }), {
    frame(frame) {
      if (frame.type === "room") draw(frame);
      else if (frame.type === "text") race.hear(frame);
      else if (frame.type === "line" || frame.type === "engine") wallSending.hear(frame);
    },
    status(status) {
      showStatus(page, status, line?.room?.frozen);
      if (status === "refused") showMessage(page, say("wallLostTitle"), say("wallLostText"));
      if (status === "ended") showMessage(page, say("wallGoneTitle"), say("wallGoneText"));
      if (status === "live") lobby.refresh();
    },
  });
  const race = new RoomRace(part(page, "watch", HTMLElement), line.clock);
  const closing = mountClosing(part(page, "closing", HTMLElement), line.clock);

  /** @param {Room} room */
  function draw(room) {
    page.dataset.phase = room.phase;
    part(page, "blank", HTMLElement).hidden = !room.blank;
    setText(part(page, "title", HTMLElement), room.title || "Firstword");
    showStatus(page, line.status, room.frozen);
    showPhases(part(page, "phases", HTMLElement), room);
    lobby.show(room);
    closing.show(room);
    showSpotlight(room);
    if (room.closed) return showMessage(page, say("wallGoneTitle"), say("wallGoneText"));
    if (room.round) drawRound(room, room.round);
    else if (room.sending) {
      showScreen(page, "sending");
      wallSending.show(room, room.sending);
    } else showScreen(page, "lobby");
  }

  /** @param {Room} room @param {Round} round */
  function drawRound(room, round) {
    if (round.stimulus) race.show(round, round.order ?? "ab");
    if (room.phase === "watch") {
      showScreen(page, "watch");
      setText(part(page, "watch-asked", HTMLElement), askedOf(round));
      showTrouble(part(page, "trouble", HTMLElement), round);
    } else if (room.phase === "reveal" || room.phase === "discuss") drawResults(room, round);
    else drawQuestion(room, round);
  }
}

/** @param {Room} room @param {Round} round */
function drawQuestion(room, round) {
  showScreen(page, "question");
  const isPrediction = room.phase === "predict";
  const kind = round.question === "rather" ? "Rather" : "Faster";
  setText(part(page, "asked", HTMLElement), askedOf(round));
  setText(part(page, "question", HTMLElement), say(`${isPrediction ? "predict" : "vote"}${kind}`));
  // Lanes' names before, positions afterwards: who votes must not know which was which.
  const lanes = round.lanes;
  const choices = isPrediction
    ? [lanes?.a.label || say("laneA"), lanes?.b.label || say("laneB"), say("noDifference")]
    : [`1 · ${say("position1")}`, `2 · ${say("position2")}`, say("cannotTell")];
  part(page, "choices", HTMLElement).replaceChildren(...choices.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
  const voted = isPrediction ? "" : say("votedOf", { voted: round.voted ?? 0, of: round.could_vote ?? 0 });
  setText(part(page, "progress", HTMLElement), room.hands_only ? say("handsUp") : room.count === null ? "" : voted);
}

/** @param {Room} room @param {Round} round */
function drawResults(room, round) {
  showScreen(page, "results");
  const prediction = predictionOf(round);
  part(page, "results", HTMLElement).replaceChildren(...resultsOf(round, { withCaveats: room.phase === "reveal" }), ...(prediction ? [prediction] : []));
  const painted = round.first_word_ms;
  // Two votes need the room; the class has seen how it was painted when it talked about the first.
  const isShown = room.phase === "discuss" && !round.revote_results && painted !== undefined && (painted.a.phones_ms.length > 0 || painted.b.phones_ms.length > 0);
  part(page, "lane-spread", HTMLElement).hidden = !isShown;
  if (!isShown || !painted) return;
  /** @type {const} */ (["a", "b"]).forEach((lane, i) => {
    const { server_ms, phones_ms } = painted[lane];
    setText(/** @type {HTMLElement} */ (spreads[i]?.title), round.lanes?.[lane].label || say(lane === "a" ? "laneA" : "laneB"));
    spreads[i]?.spread.show(phones_ms, server_ms === null ? [] : [server_ms]);
  });
}

/** Only what the teacher has put there. @param {Room} room */
function showSpotlight({ spotlight, sending }) {
  part(page, "spotlight", HTMLElement).hidden = !spotlight || !sending;
  if (!spotlight) return;
  const { nickname, number, text } = spotlight;
  setText(part(page, "spotlight-who", HTMLElement), nickname ? say("spotlightNamed", { name: nickname }) : say("spotlightWho", { number }));
  setText(part(page, "spotlight-text", HTMLElement), text);
}
