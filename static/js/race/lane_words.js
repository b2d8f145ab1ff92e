/**
 * A lane in words: its name, and everything that is set on it, with the numbers of a simulated
 * network. Pure.
 *
 * @typedef {import("./lane_settings.js").LaneSettings} LaneSettings
 */

import { POLL_EVERY_MS } from "../stream/polling_wire.js";
import { say } from "../words.js";
import { LINKS } from "./lane_settings.js";
import { HELD_MS } from "../measure/even_pace.js";

/** @param {{ settings: LaneSettings }} lane @returns {string} such as "Streamed", with what is unusual about it */
export function nameOf({ settings: { delivery, wire, link } }) {
  const unusual = [...(wire === "socket" ? [] : [say(`wire_${wire}`)]), ...(link === "direct" ? [] : [say(`link_${link}`)])];
  const name = say(`delivery_${delivery}`);
  return unusual.length ? say("laneName", { name, unusual: unusual.join(", ") }) : name;
}

/** @param {LaneSettings} settings @returns {string} all of its settings, in one line; a network only where one is simulated */
export function settingsText({ delivery, wire, link }) {
  return [
    say(`pace_${delivery}`, { ms: HELD_MS }),
    wire === "polling" ? say("pollingEvery", { seconds: POLL_EVERY_MS / 1000 }) : say(`wire_${wire}`),
    ...(link === "direct" ? [] : [linkText(link)]),
  ].join(" · ");
}

// Private

/** @param {import("./lane_settings.js").LinkName} link */
function linkText(link) {
  const numbers = LINKS[link];
  if (!numbers) return say("link_direct");
  const parts = Object.entries(numbers).map(([name, value]) => say(`linkNumber_${name}`, { value }));
  return say("linkWithNumbers", { link: say(`link_${link}`), numbers: parts.join(", ") });
}
