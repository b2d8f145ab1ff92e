/**
 * The side-by-side page: find the elements, mount the components, join them. Nothing is decided here
 * but what follows what.
 */

import { part, setText } from "../components/parts.js";
import { mountRaceKeys } from "../components/race_keys.js";
import { More } from "../components/race_more.js";
import { Setup } from "../components/race_setup.js";
import { Stage } from "../components/race_stage.js";
import { mountLanguage } from "../components/language.js";
import { mountTheme } from "../components/theme.js";
import { Archive } from "../race/archive.js";
import { readFragment, usualExperiment, writeFragment } from "../race/experiment.js";
import { wiresOf } from "../race/lane_wires.js";
import { newRace, runRace } from "../race/race.js";
import { recordingOf, tokenEvents } from "../race/recording.js";
import { readRecording } from "../race/recording_file.js";
import { BadFile, MAX_FILE_BYTES } from "../race/recording_rules.js";
import { httpAddress } from "../stream/address.js";
import { randomId } from "../stream/identity.js";
import { Readiness } from "../stream/readiness.js";
import { fillWords, say, speak } from "../words.js";

const page = document.body;
await speak(["common", "failures", "race", "race_numbers"]);
fillWords(document);
mountTheme(part(page, "theme", HTMLSelectElement));
mountLanguage(part(page, "language", HTMLSelectElement));

const usual = usualExperiment(say("usualPrompt"));
const archive = new Archive(location.href);
const bring = wiresOf(location.href);
const announcer = part(page, "announcer", HTMLElement);
/** @type {ReturnType<typeof runRace> | null} */
let running = null;
/** @type {import("../race/archive.js").Shipped[]} */
let shipped = [];

/** @type {Setup} */
const setup = new Setup(part(page, "ask", HTMLElement), readFragment(location.hash, usual) ?? usual, {
  changed: (fields) => {
    history.replaceState(null, "", `#${writeFragment(setup.experiment)}`);
    if ("lanes" in fields || "recording" in fields || "separate" in fields) prepare();
    else if (fields.wordsPerMinute) stage.readAt(fields.wordsPerMinute);
  },
  run: (at_ms) => (stage.isLive ? stop() : run(at_ms)),
  open,
  link: () => `${location.href.split("#")[0]}#${writeFragment(setup.experiment)}`,
  question: (id) => archive.question(id),
});
/** @type {Stage} */
const stage = new Stage(part(page, "stage", HTMLElement), {
  changeLane: (index, settings) => setup.changeLane(index, settings),
  changed: (state) => {
    const wasOver = page.dataset.race === "over";
    page.dataset.race = state;
    setup.setLive(stage.isLive);
    if (state === "over" && !wasOver) more.show(stage.race);
    if (state === "idle") more.show(null);
  },
  announce: (text) => setText(announcer, text),
});
const more = new More(part(page, "more", HTMLElement), {
  async recording(race) {
    const events = tokenEvents(race) ?? (await archive.log(race.lanes.find(({ reply }) => reply)?.reply ?? ""));
    return recordingOf(race, events, await archive.about());
  },
  html: (recording) => archive.html(recording),
});
mountRaceKeys(page, (action, at_ms) => {
  if (action !== "start") return stage.act(action);
  if (stage.state === "over") prepare();
  else if (stage.state === "idle") run(at_ms);
});
const readiness = new Readiness(httpAddress(location.href, "readyz"), ({ state, detail }) => {
  page.dataset.model = state;
  setup.note(state === "ready" ? "" : state === "away" ? say("serverAway") : say("modelLoads"));
  if (state === "ready") setText(part(page, "model", HTMLElement), detail);
});
readiness.watch();
prepare();
askTheRecording();
page.dataset.state = "ready";
shipped = await archive.shipped();
setup.offer(shipped);
prepare();

addEventListener("hashchange", () => {
  const linked = readFragment(location.hash, usual);
  if (!linked || stage.isLive) return;
  setup.experiment = linked;
  setup.show();
  prepare();
  askTheRecording();
});

/** Put the experiment on the stage, not begun. A race that runs goes on by itself. */
function prepare() {
  if (stage.isLive) return;
  stage.show(raceToBe(""));
}

/** A recording answers its own question, whatever a link says. */
async function askTheRecording() {
  const { recording } = setup.experiment;
  const prompt = recording && (await archive.question(recording).catch(() => ""));
  if (!prompt || setup.experiment.recording !== recording || stage.isLive) return;
  setup.experiment = { ...setup.experiment, prompt };
  setup.show();
}

/** @param {string} madeAt */
function raceToBe(madeAt) {
  const { experiment } = setup;
  const race = newRace(experiment, madeAt);
  if (experiment.recording) race.recordingTitle = shipped.find(({ id }) => id === experiment.recording)?.title ?? "";
  return race;
}

/** @param {number} clicked_ms on the clock of performance.now */
function run(clicked_ms) {
  const { experiment } = setup;
  // A recording from a file is played again, from its beginning.
  if (stage.race?.source === "replay" && stage.state !== "running") return stage.begin(clicked_ms);
  if (stage.isLive || (!experiment.recording && (!readiness.isReady || experiment.prompt.trim() === ""))) return;
  running?.cancel();
  setup.closeMenus();
  const race = raceToBe(new Date().toISOString());
  stage.show(race);
  stage.begin(clicked_ms);
  running = runRace(race, { bring, newId: randomId, elapsed_ms: () => stage.elapsed_ms() }, (lane) => stage.changed(lane));
}

function stop() {
  for (const reply of running?.stop() ?? []) {
    const address = httpAddress(location.href, `api/replies/${encodeURIComponent(reply)}`);
    fetch(address, { method: "DELETE" }).catch(() => {}); // Each lane's own connection tells if it failed.
  }
}

/** @param {File} file somebody's recording */
async function open(file) {
  try {
    if (file.size > MAX_FILE_BYTES) throw new BadFile(say("tooLarge", { limit: MAX_FILE_BYTES / 1_048_576 }));
    const race = readRecording(await file.text());
    running?.cancel();
    setup.note("");
    stage.show(race);
  } catch (error) {
    if (!(error instanceof BadFile)) throw error;
    setup.note(say("badRecording", { why: error.message }));
  }
}
