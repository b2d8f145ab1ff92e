/**
 * The look before the lesson: does a WebSocket stay open for a minute, how long is the way there and
 * back, how much fits through, how well are the clocks known, is this a secure context. What it finds is
 * told as it is found; what is good enough is decided here. Network and clock are handed in.
 *
 * @typedef {"socket" | "way" | "bandwidth" | "clock" | "secure"} Check
 * @typedef {{ check: Check, verdict: "well" | "fair" | "bad", value: number | boolean | null }} Finding
 */

/** Shown as they are, each with its line between well, fair and bad. @type {Record<"way" | "bandwidth" | "clock", [number, number]>} */
const LIMITS = { way: [60, 250], bandwidth: [5, 1], clock: [30, 120] };
export const OPEN_S = 60;
const BYTES = 500_000;

/** @param {"way" | "bandwidth" | "clock"} check @param {number} value milliseconds, or megabits a second @returns {Finding} */
export function judge(check, value) {
  const [good, poor] = LIMITS[check];
  const better = check === "bandwidth" ? (/** @type {number} */ limit) => value >= limit : (/** @type {number} */ limit) => value <= limit;
  return { check, value, verdict: better(good) ? "well" : better(poor) ? "fair" : "bad" };
}

/**
 * @param {string} address of the bytes, without how many
 * @returns {Promise<number>} megabits a second
 */
export async function measureBandwidth(address) {
  const begun_ms = performance.now();
  const response = await fetch(`${address}?bytes=${BYTES}`, { cache: "no-store" });
  const { byteLength } = await response.arrayBuffer();
  return (byteLength * 8) / 1000 / Math.max(1, performance.now() - begun_ms);
}
