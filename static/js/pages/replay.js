/**
 * The page that replays one recording by itself, from a file, without any server: the stage of the
 * side-by-side page, and what can be kept of it.
 */

import { part, setText } from "../components/parts.js";
import { mountRaceKeys } from "../components/race_keys.js";
import { More } from "../components/race_more.js";
import { Stage } from "../components/race_stage.js";
import { mountTheme } from "../components/theme.js";
import { readRecording } from "../race/recording_file.js";
import { fillWords, say, speak } from "../words.js";

const page = document.body;
await speak(["common", "failures", "race", "race_numbers"]);
fillWords(document);
mountTheme(part(page, "theme", HTMLSelectElement));

const race = readRecording(document.getElementById("recording")?.textContent ?? "");
const announcer = part(page, "announcer", HTMLElement);
/** @type {Stage} */
const stage = new Stage(part(page, "stage", HTMLElement), {
  changeLane: null,
  changed: (state) => {
    if (state === "over" && page.dataset.race !== "over") more.show(race);
    page.dataset.race = state;
  },
  announce: (text) => setText(announcer, text),
});
const more = new More(part(page, "more", HTMLElement), { recording: async () => race.file ?? {}, html: null });
mountRaceKeys(page, (action, at_ms) => {
  if (action !== "start") return stage.act(action);
  if (stage.state === "over") stage.show(race);
  else if (stage.state === "idle") stage.begin(at_ms);
});
setText(part(page, "asked", HTMLElement), race.experiment.prompt);
setText(part(page, "model", HTMLElement), say("recordedWith", { model: race.lanes[0]?.model?.name ?? "", day: race.madeAt.slice(0, 10) }));
stage.show(race);
page.dataset.state = "ready";
