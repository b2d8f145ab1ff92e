/**
 * When to try again after a lost connection: soon at first, then ever later, and never all pages of a
 * classroom at the same moment (jitter). Pure: the dice are handed in.
 */

const FIRST_MS = 250;
const LONGEST_MS = 8000;

/**
 * @param {number} failures connections lost in a row, from 0
 * @param {() => number} random uniform in [0, 1)
 * @returns {number} milliseconds to wait: at least half of the step, at most the whole
 */
export function waitBeforeTry(failures, random) {
  const step = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures, 16));
  return Math.round(step / 2 + (step / 2) * random());
}
