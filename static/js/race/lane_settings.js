/**
 * What a lane of the race may be: how the answer is delivered, over which wire, and through which
 * simulated network. The presets' numbers stand here and are shown on the lane, so nothing that is
 * simulated is hidden. Pure; it refuses to know sockets and elements.
 *
 * @typedef {"token" | "word" | "sentence" | "smoothed" | "whole"} Delivery
 * @typedef {"socket" | "sse" | "ndjson" | "plain" | "polling"} WireName
 * @typedef {"direct" | "good" | "mobile" | "tunnel" | "proxy"} LinkName
 * @typedef {{ delivery: Delivery, wire: WireName, link: LinkName }} LaneSettings
 * @typedef {Record<string, number>} LinkNumbers
 */

/** @type {readonly Delivery[]} */
export const DELIVERIES = ["token", "word", "sentence", "smoothed", "whole"];
/** @type {readonly WireName[]} */
export const WIRES = ["socket", "sse", "ndjson", "plain", "polling"];

/**
 * The simulated networks, as the server's `link` takes them; null is the real network alone.
 * "tunnel" loses packets, and everything behind a lost one waits; "proxy" collects before it sends.
 * @type {Record<LinkName, LinkNumbers | null>}
 */
export const LINKS = {
  direct: null,
  good: { latency_ms: 20, jitter_ms: 5, kbps: 20_000 },
  mobile: { latency_ms: 150, jitter_ms: 60, kbps: 400 },
  tunnel: { latency_ms: 80, jitter_ms: 40, kbps: 400, loss_percent: 8, stall_ms: 900 },
  proxy: { flush_bytes: 2048, flush_ms: 3000 },
};

export const MIN_LANES = 2;
export const MAX_LANES = 4;

/** @type {readonly LaneSettings[]} */
export const USUAL_LANES = [lane("token"), lane("whole")];

/** Races worth seeing, by name. @type {Record<string, readonly LaneSettings[]>} */
export const PRESETS = {
  usual: USUAL_LANES,
  pieces: [lane("token"), lane("word"), lane("sentence"), lane("whole")],
  smooth: [lane("token"), lane("smoothed")],
  wires: [lane("token", "socket"), lane("token", "sse"), lane("token", "plain"), lane("token", "polling")],
  networks: [lane("token"), lane("token", "socket", "mobile"), lane("token", "socket", "tunnel")],
  proxy: [lane("token"), lane("token", "socket", "proxy"), lane("whole")],
};

/** @param {LaneSettings} settings @returns {"token" | "word" | "sentence" | "whole"} the server's pace */
export function paceOf({ delivery }) {
  return delivery === "smoothed" ? "token" : delivery;
}

/** @param {LaneSettings} settings @returns {string} such as "token.socket.direct", for links */
export function writeLane({ delivery, wire, link }) {
  return `${delivery}.${wire}.${link}`;
}

/** @param {string} text @returns {LaneSettings | null} null where it is none of ours */
export function readLane(text) {
  const [delivery = "", wire = "socket", link = "direct"] = text.split(".");
  return checkLane({ delivery, wire, link });
}

/** @param {{ delivery?: unknown, wire?: unknown, link?: unknown }} given @returns {LaneSettings | null} */
export function checkLane({ delivery, wire, link }) {
  const known = DELIVERIES.includes(/** @type {Delivery} */ (delivery)) && WIRES.includes(/** @type {WireName} */ (wire));
  if (!known || typeof link !== "string" || !Object.hasOwn(LINKS, link)) return null;
  return /** @type {LaneSettings} */ ({ delivery, wire, link });
}

// Private

/** @param {Delivery} delivery @param {WireName} wire @param {LinkName} link @returns {LaneSettings} */
function lane(delivery, wire = "socket", link = "direct") {
  return { delivery, wire, link };
}
