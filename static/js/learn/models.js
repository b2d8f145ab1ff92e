/**
 * The small models behind the lesson's pictures: two ways to schedule, credit, a buffer, a reader. They
 * count steps and milliseconds and know nothing of drawing; docs/code has the first ones in Python,
 * and a test holds both to the same numbers. Pure.
 *
 * @typedef {{ at_ms: number, words: number, tokens: number, text: string }} Arrival
 * @typedef {{ arrives: number, length: number }} Asked in steps
 */

/** The example of docs/code/batching.py. @type {Asked[]} */
export const EXAMPLE = [
  { arrives: 0, length: 40 }, { arrives: 1, length: 5 }, { arrives: 2, length: 5 }, { arrives: 3, length: 5 },
];

/**
 * A batch is filled, finished, and only then the next is taken.
 * @param {Asked[]} asked @param {number} slots
 * @returns {number[][]} for each one the steps in which its tokens are made
 */
export function byRequest(asked, slots) {
  /** @type {number[][]} */
  const made = asked.map(() => []);
  let waiting = asked.map((_, i) => i);
  for (let step = 0; waiting.length > 0;) {
    const now = step;
    const batch = waiting.filter((i) => at(asked, i).arrives <= now).slice(0, slots);
    waiting = waiting.filter((i) => !batch.includes(i));
    if (batch.length === 0) step += 1;
    while (batch.some((i) => at(made, i).length < at(asked, i).length)) {
      step += 1;
      for (const i of batch) if (at(made, i).length < at(asked, i).length) at(made, i).push(step);
    }
  }
  return made;
}

/**
 * Before every step: whoever is finished leaves, whoever waits comes in.
 * @param {Asked[]} asked @param {number} slots
 * @returns {number[][]}
 */
export function byIteration(asked, slots) {
  /** @type {number[][]} */
  const made = asked.map(() => []);
  const open = (/** @type {number} */ i) => at(made, i).length < at(asked, i).length;
  for (let step = 0; asked.some((_, i) => open(i)); step += 1) {
    const now = step;
    const batch = asked.map((_, i) => i).filter((i) => at(asked, i).arrives <= now && open(i)).slice(0, slots);
    for (const i of batch) at(made, i).push(step + 1);
  }
  return made;
}

/**
 * A writer of 20 tokens a second with two marks, and a steady reader.
 * @param {{ tokens: number, high: number, low: number, readPerSecond: number }} setting
 * @returns {{ unread: { at_ms: number, count: number }[], pauses: number, total_ms: number, most: number }}
 */
export function credit({ tokens, high, low, readPerSecond }) {
  const step_ms = 50;
  const unread = [];
  let [made, pauses, most, total_ms] = [0, 0, 0, 0];
  let paused = false;
  for (let at_ms = 0; made < tokens; at_ms += step_ms) {
    // A reader cannot have read what is not there.
    const read = Math.min(made, Math.floor((at_ms / 1000) * readPerSecond));
    if (paused && made - read <= low) paused = false;
    if (!paused) made += 1;
    if (!paused && made - read >= high && made < tokens) {
      paused = true;
      pauses += 1;
    }
    most = Math.max(most, made - read);
    unread.push({ at_ms, count: made - read });
    total_ms = at_ms;
  }
  return { unread, pauses, total_ms, most };
}

/**
 * What a buffer of so many bytes makes of a stream: pieces are handed on when it is full, the rest at the end.
 * @param {Arrival[]} arrivals @param {number} bytes
 * @returns {Arrival[]}
 */
export function throughBuffer(arrivals, bytes) {
  /** @type {Arrival[]} */
  const bursts = [];
  /** @type {Arrival | null} */
  let held = null;
  let size = 0;
  const encoder = new TextEncoder();
  for (const [i, arrival] of arrivals.entries()) {
    held = held ? joined(held, arrival) : { ...arrival };
    size += encoder.encode(arrival.text).length;
    if (size >= bytes || i === arrivals.length - 1) {
      bursts.push(held);
      held = null;
      size = 0;
    }
  }
  return bursts;
}

/** Everything in one piece, with the last of it. @param {Arrival[]} arrivals @returns {Arrival[]} */
export const atOnce = (arrivals) => throughBuffer(arrivals, Infinity);

/**
 * Somebody who begins with the first word and reads at a steady speed.
 * @param {Arrival[]} arrivals @param {number} wordsPerMinute
 * @returns {{ waits_ms: number, done_ms: number, ahead_ms: number }} time spent waiting after the first
 *   word; when the reading is done; how long before that the last word was there
 */
export function readAlong(arrivals, wordsPerMinute) {
  let waits_ms = 0;
  let now_ms = arrivals[0]?.at_ms ?? 0;
  for (const { at_ms, words } of arrivals) {
    waits_ms += Math.max(0, at_ms - now_ms);
    now_ms = Math.max(now_ms, at_ms) + (words / wordsPerMinute) * 60_000;
  }
  return { waits_ms, done_ms: now_ms, ahead_ms: now_ms - (arrivals.at(-1)?.at_ms ?? 0) };
}

// Private

/** @template T @param {T[]} list @param {number} i @returns {T} */
function at(list, i) {
  return /** @type {T} */ (list[i]);
}

/** @param {Arrival} first @param {Arrival} next @returns {Arrival} */
function joined(first, next) {
  return {
    at_ms: next.at_ms, words: first.words + next.words, tokens: first.tokens + next.tokens, text: first.text + next.text,
  };
}
