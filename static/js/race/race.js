/**
 * A race: its lanes, what was asked, and whether it is running, over, or a recording. `runRace` starts
 * one live: every lane asks for the same reply on a connection of its own, and the server holds the
 * generation until all lanes are there. A lane whose connection breaks says so; the others go on. It
 * refuses to know elements and what a wire is (`bring` is handed in).
 *
 * @typedef {import("./lane.js").Lane} Lane
 * @typedef {import("./experiment.js").Experiment} Experiment
 * @typedef {(body: object, hear: (event: import("../events.js").ServerEvent) => void, signal: AbortSignal,
 *   named: (reply: string) => void) => Promise<void>} Bring one reply over one connection; rejects when the
 *   connection breaks
 * @typedef {object} Race
 * @property {Experiment} experiment
 * @property {Lane[]} lanes
 * @property {"live" | "replay"} source a replay is drawn from a file, without any server
 * @property {string} madeAt UTC, ISO
 * @property {boolean} serverClock its times are the server's: a recording that no page has watched
 * @property {Record<string, unknown> | null} file the recording that it came from or was made into
 * @property {string | null} recordingTitle of the recording that plays, here or over the wires; null: the model spoke
 */

import { closeSilently, endOf, fail, hear, nameReply, newLane, stopSilently } from "./lane.js";
import { startBody } from "./experiment.js";

/** @param {Experiment} experiment @param {string} madeAt @returns {Race} */
export function newRace(experiment, madeAt) {
  return { experiment, lanes: experiment.lanes.map((settings) => newLane(settings)), source: "live", madeAt, serverClock: false, file: null, recordingTitle: null };
}

/** @param {Race} race @returns {number | null} when the last lane was over; null while one is not */
export function endOfRace({ lanes }) {
  const ends = lanes.map(endOf);
  return ends.every((end) => end !== null) ? Math.max(...ends.map(Number)) : null;
}

/**
 * @param {Race} race
 * @param {{ bring(wire: string): Bring, newId(): string, elapsed_ms(): number }} ports
 * @param {(lane: Lane) => void} changed
 * @returns {{ stop(): string[], cancel(): void }} `stop` names the replies to be stopped; `cancel` drops the connections
 */
export function runRace(race, ports, changed) {
  const { experiment, lanes } = race;
  const control = new AbortController();
  const shared = ports.newId();
  for (const lane of lanes) {
    const id = experiment.separate ? ports.newId() : shared;
    const body = startBody(experiment, lane.settings, id);
    ports.bring(lane.settings.wire)(body, (event) => {
      hear(lane, event, ports.elapsed_ms());
      changed(lane);
    }, control.signal, (reply) => nameReply(lane, reply)).then(
      () => closeSilently(lane, ports.elapsed_ms()),
      (error) => {
        if (!control.signal.aborted) fail(lane, { code: "connection_lost", message: String(error?.message ?? error) }, ports.elapsed_ms());
      },
    ).then(() => changed(lane));
  }
  return {
    stop: () => {
      const running = lanes.filter(({ ended_ms }) => ended_ms === null);
      running.forEach(stopSilently);
      return [...new Set(running.flatMap(({ reply }) => (reply ? [reply] : [])))];
    },
    cancel: () => control.abort(),
  };
}
