/**
 * Reading data that anybody may have written (a file, a link): each reader gives a checked copy or
 * throws Unreadable, which names the place. Names are looked up as own properties only and ids are
 * hexadecimal, so no value can reach an object's prototype. Pure.
 */

/** What is wrong with somebody's data; `word` names the sentence that says it (words/<language>/chat.js). */
export class Unreadable extends Error {
  /** @param {string} word @param {string} where like `conversations[2].turns[0].question` @param {Record<string, string | number>} [values] */
  constructor(word, where, values = {}) {
    super(`${where}: ${word}`);
    this.name = "Unreadable";
    this.word = word;
    this.values = { where, ...values };
  }
}

/** @param {unknown} value @param {string} where @returns {Record<string, unknown>} */
export function readObject(value, where) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Unreadable("wantsObject", where);
  return /** @type {Record<string, unknown>} */ (value);
}

/** @param {unknown} value @param {string} where @param {number} most @returns {unknown[]} */
export function readList(value, where, most) {
  if (!Array.isArray(value)) throw new Unreadable("wantsList", where);
  if (value.length > most) throw new Unreadable("tooMany", where, { count: value.length, most });
  return value;
}

/** @param {unknown} value @param {string} where @param {number} most characters @returns {string} */
export function readText(value, where, most) {
  if (typeof value !== "string") throw new Unreadable("wantsText", where);
  if (value.length > most) throw new Unreadable("tooLong", where, { count: value.length, most });
  // Half a character can be escaped in JSON; no wire carries it.
  return /** @type {any} */ (value).toWellFormed?.() ?? value;
}

/** @param {unknown} value @param {string} where @returns {string} a name of ours: hexadecimal */
export function readId(value, where) {
  if (typeof value !== "string" || !/^[0-9a-f]{8,64}$/.test(value)) throw new Unreadable("wantsId", where);
  return value;
}

/**
 * @param {unknown} value @param {string} where
 * @param {number} [low] @param {number} [high]
 * @returns {number}
 */
export function readFinite(value, where, low = -1e15, high = 1e15) {
  if (typeof value !== "number" || !(value >= low && value <= high)) {
    throw new Unreadable("wantsNumber", where, { low, high });
  }
  return value;
}

/**
 * @template {string} T
 * @param {unknown} value @param {string} where @param {readonly T[]} choices
 * @returns {T}
 */
export function readChoice(value, where, choices) {
  if (!choices.includes(/** @type {T} */ (value))) throw new Unreadable("wantsChoice", where, { choices: choices.join(", ") });
  return /** @type {T} */ (value);
}

/**
 * A value that may be missing.
 * @template T
 * @param {unknown} value @param {(value: unknown) => T} read
 * @returns {T | null}
 */
export const orNull = (value, read) => (value === null || value === undefined ? null : read(value));
