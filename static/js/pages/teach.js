/**
 * The teacher's console: open a room or take one up, and lead it. Commands go out, the room's state comes
 * back and is drawn; nothing is remembered here that the room does not know. /teach#CODE goes back into a
 * room, /teach#CODE.KEY makes this browser its teacher.
 */

import { element, part, setText } from "../components/parts.js";
import { mountTeacherKeys } from "../components/room_keys.js";
import { showNow } from "../components/room_now.js";
import { RoomPeople } from "../components/room_people.js";
import { openPreflight } from "../components/room_preflight.js";
import { showScreen } from "../components/room_screen.js";
import { RoomSetup } from "../components/room_setup.js";
import { RoomSteering } from "../components/room_steering.js";
import { RoomSide } from "../components/room_side.js";
import { RoomTimer } from "../components/room_timer.js";
import { mountLanguage } from "../components/language.js";
import { mountTheme } from "../components/theme.js";
import { Archive } from "../race/archive.js";
import { listen } from "../rooms/clicker.js";
import { Door, Refused } from "../rooms/door.js";
import { readFragment, spellCode } from "../rooms/join_code.js";
import { backPhase, isResting, nextPhase } from "../rooms/next_step.js";
import { forgetRoom, keptRooms, keepRoom } from "../rooms/kept_rooms.js";
import { troubleWord } from "../rooms/refusals.js";
import { RoomLine } from "../rooms/room_line.js";
import { sayFailure } from "../stream/failure.js";
import { fillWords, say, speak } from "../words.js";

const page = document.body;
await speak(["common", "race", "failures", "rooms", "rooms_teach"]);
fillWords(document);
mountTheme(part(page, "theme", HTMLSelectElement));
mountLanguage(part(page, "language", HTMLSelectElement));
const door = new Door(location.href);
const alertLine = part(page, "open-alert", HTMLElement);
/** @type {RoomLine | null} */
let line = null;
let drops = 0;
let endClicker = () => {};
const tell = (/** @type {object} */ command) => void line?.say(command);
const setup = new RoomSetup(page, tell);
const people = new RoomPeople(page, tell);
const side = new RoomSide(page, door, tell);
const steering = new RoomSteering(page, tell);
const timer = new RoomTimer(page, tell);
mountOpening();
mountSteps();
new Archive(location.href).shipped().then((recordings) => setup.offer(recordings));
addEventListener("hashchange", () => location.hash !== `#${line?.room?.code}` && location.reload());
await takeUp(location.hash);
page.dataset.state = "ready";

function mountOpening() {
  showKept();
  part(page, "open-form", HTMLFormElement).addEventListener("submit", async (event) => {
    event.preventDefault();
    const title = part(page, "title-field", HTMLInputElement).value.trim();
    await trying(async () => {
      const { code } = await door.open(title);
      keepRoom(code, title);
      lead(code);
    }, "openForbidden");
  });
  part(page, "take-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    const text = part(page, "take-field", HTMLInputElement).value.trim();
    takeUp(text.includes("#") ? text.slice(text.indexOf("#")) : `#${text}`);
  });
  const preflight = () => openPreflight(page, line && { clock: line.clock, drops: () => drops });
  part(page, "open-preflight", HTMLButtonElement).addEventListener("click", preflight);
  part(page, "preflight", HTMLButtonElement).addEventListener("click", preflight);
}

function showKept() {
  const kept = keptRooms();
  part(page, "kept", HTMLElement).replaceChildren(...(kept.length ? kept.map(({ code, title }) => {
    const link = element("a", "quiet framed", title ? `${title} · ${spellCode(code)}` : spellCode(code));
    link.setAttribute("href", `#${code}`);
    return element("li", "", link);
  }) : [element("li", "room-note", say("takeNone"))]));
}

/** @param {string} fragment */
async function takeUp(fragment) {
  const given = readFragment(fragment);
  if (!given) {
    showScreen(page, "open");
    if (fragment.length > 1) setText(alertLine, say("takeNoCode"));
    return;
  }
  await trying(async () => {
    if (given.secret) await door.becomeHost(given.code, given.secret);
    lead(given.code);
  }, "takeRefused");
}

/** @param {() => Promise<void>} action @param {string} forbidden the word for what this browser may not do */
async function trying(action, forbidden) {
  setText(alertLine, "");
  try {
    await action();
  } catch (error) {
    showScreen(page, "open");
    if (!(error instanceof Refused)) setText(alertLine, say("roomServerAway"));
    else if (error.status === 404) setText(alertLine, say("roomGone"));
    else setText(alertLine, error.code === "forbidden" ? say(forbidden) : say("roomNotOpened", { why: sayFailure(error) }));
  }
}

/** @param {string} code */
function lead(code) {
  line?.close();
  endClicker();
  endClicker = listen(code, pressed);
  history.replaceState(null, "", `#${code}`);
  line = new RoomLine(door.socket(code), () => ({ role: "host" }), {
    frame(frame) {
      if (frame.type === "room") draw(frame);
      else if (frame.type === "error") setText(part(page, "trouble", HTMLElement), say(troubleWord(frame, line?.room ?? null), { code: frame.code }));
    },
    status(status) {
      const model = part(page, "model", HTMLElement);
      model.dataset.status = status;
      setText(model, say(`status_${status}`));
      if (status === "reconnecting") drops += 1;
      if (status === "live") side.refresh();
      if (status === "refused") leaveRoom(say("takeRefused"));
      if (status === "ended" && line?.isGone) {
        forgetRoom(code);
        leaveRoom(say("roomGone"));
      }
    },
  });
}

/** @param {string} why */
function leaveRoom(why) {
  line?.close();
  line = null;
  history.replaceState(null, "", location.pathname);
  showKept();
  showScreen(page, "open");
  setText(alertLine, why);
}

/** @param {import("../rooms/room_frames.js").Room} room */
function draw(room) {
  if (page.dataset.screen !== "room") showScreen(page, "room");
  page.dataset.phase = room.phase;
  keepRoom(room.code, room.title);
  if (line) timer.show(room, line.clock);
  steering.show(room);
  showNow(page, room);
  setup.show(room, isResting(room.phase));
  people.show(room);
  side.show(room);
}

function mountSteps() {
  part(page, "next", HTMLButtonElement).addEventListener("click", next);
  part(page, "back", HTMLButtonElement).addEventListener("click", back);
  part(page, "stop", HTMLButtonElement).addEventListener("click", () => advance("idle"));
  part(page, "tally", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    const count = (/** @type {string} */ name) => Math.max(0, Math.round(Number(part(page, name, HTMLInputElement).value)) || 0);
    tell({ type: "tally", first: count("tally-1"), second: count("tally-2"), same: count("tally-same") });
  });
  mountTeacherKeys(page, pressed);
}

/** @param {import("../rooms/next_step.js").TeacherKey} key here, or on the wall's window */
function pressed(key) {
  if (key === "next") next();
  else if (key === "back") back();
  else side.toggle(key === "blank" ? "blank" : "freeze");
}

function next() {
  const room = line?.room;
  if (!room || room.closed) return;
  const to = nextPhase(room);
  if (to) advance(to);
  else setup.open();
}

function back() {
  const to = line?.room && backPhase(line.room);
  if (to) advance(to);
}

/** The phase that is on the screen goes along: a second press does nothing. @param {import("../rooms/room_frames.js").Phase} to */
function advance(to) {
  setText(part(page, "trouble", HTMLElement), "");
  tell({ type: "advance", to, since: line?.room?.phase });
}
