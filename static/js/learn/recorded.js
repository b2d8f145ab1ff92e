/**
 * The recordings that ship, as the lesson needs them: one answer's arrivals word by word, its numbers,
 * and the parts of each one's wait. null when there is none: the lesson goes on without pictures.
 *
 * @typedef {import("./models.js").Arrival} Arrival
 */

import { median } from "../measure/numbers.js";
import { countWords } from "../measure/words_read.js";

/**
 * @returns {Promise<{ arrivals: Arrival[], first_ms: number, gap_ms: number | null, model: string,
 *   cpu: string, waits: { label: string, queue_ms: number, prefill_ms: number, rest_ms: number, cached: number }[] } | null>}
 */
export async function recordedLesson() {
  try {
    const { recordings: cards } = await read("/api/recordings");
    const recordings = await Promise.all(cards.map((/** @type {{ id: string }} */ { id }) => read(`/api/recordings/${id}`)));
    const longest = recordings.toSorted((a, b) => b.reply.text.length - a.reply.text.length)[0];
    if (!longest) return null;
    const arrivals = byWord(longest.reply.events);
    const gaps = arrivals.slice(1).map(({ at_ms }, i) => at_ms - /** @type {Arrival} */ (arrivals[i]).at_ms);
    return {
      arrivals, first_ms: arrivals[0]?.at_ms ?? 0, gap_ms: median(gaps),
      model: longest.model.name, cpu: longest.hardware.cpu, waits: recordings.map(waitOf),
    };
  } catch {
    return null;
  }
}

/**
 * The recorded deltas, joined to words as a reader at word pace gets them.
 * @param {{ type: string, t: number, text: string, tokens: number }[]} events
 * @returns {Arrival[]}
 */
export function byWord(events) {
  /** @type {Arrival[]} */
  const words = [];
  let [text, tokens] = ["", 0];
  const deltas = events.filter(({ type }) => type === "delta");
  for (const [i, delta] of deltas.entries()) {
    // A word is known to be over only when the next token begins with a space: that is its price.
    if (text && /^\s/.test(delta.text)) {
      words.push({ at_ms: delta.t, text, tokens, words: countWords(text) });
      [text, tokens] = ["", 0];
    }
    text += delta.text;
    tokens += delta.tokens;
    if (i === deltas.length - 1) words.push({ at_ms: delta.t, text, tokens, words: countWords(text) });
  }
  return words;
}

// Private

/** @param {any} recording */
function waitOf({ title, reply }) {
  const done = reply.events.at(-1);
  const first = reply.events.find((/** @type {{ type: string }} */ { type }) => type === "delta");
  const { queue_ms = 0, prefill_ms = 0 } = done?.timings ?? {};
  return { label: title, queue_ms, prefill_ms, rest_ms: Math.max(0, (first?.t ?? 0) - queue_ms - prefill_ms), cached: done?.usage?.cached_tokens ?? 0 };
}

/** @param {string} path */
async function read(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}
