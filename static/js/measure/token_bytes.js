/**
 * Tokens as bytes. A token is a row of bytes and may end inside a character, so a sign like 🫖 can take
 * several tokens; which ones belong together is found here. Pure; it refuses to know elements.
 *
 * @typedef {{ id: number, data: string, logprob: number, top: [number, string, number][],
 *   at_ms: number, t: number }} SeenToken
 *   `data` in base64; `at_ms` when it was heard here; `t` when it, or the last one sent with it, was made
 * @typedef {{ text: string | null, from: number, count: number }} Cluster text of `count` tokens from
 *   `from` on; null: these bytes are no text
 */

/** The longest sign of UTF-8 has four bytes; more tokens than that cannot make one sign. */
const MAX_CLUSTER = 4;

/** @param {string} data base64 @returns {Uint8Array} */
export function bytesOf(data) {
  try {
    return Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** @param {Uint8Array} bytes @returns {string} such as "F0 9F AB" */
export function spellBytes(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");
}

/** @param {Uint8Array} bytes @returns {string | null} null where a character is cut or the bytes are no text */
export function textOf(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** What cannot be seen gets a sign: a space, a new line, a tab. @param {string} text */
export function visible(text) {
  return text.replace(/ /g, "␣").replace(/\r?\n/g, "↵").replace(/\t/g, "⇥");
}

/**
 * Tokens that make whole characters only together.
 * @param {{ data: string }[]} tokens
 * @returns {Cluster[]} every token in exactly one, in order
 */
export function clustersOf(tokens) {
  /** @type {Cluster[]} */
  const clusters = [];
  for (let from = 0; from < tokens.length; from += /** @type {Cluster} */ (clusters.at(-1)).count) {
    clusters.push(clusterAt(tokens, from));
  }
  return clusters;
}

// Private

/** @param {{ data: string }[]} tokens @param {number} from @returns {Cluster} */
function clusterAt(tokens, from) {
  /** @type {number[]} */
  const bytes = [];
  for (let count = 1; count <= MAX_CLUSTER && from + count <= tokens.length; count += 1) {
    bytes.push(...bytesOf(/** @type {{ data: string }} */ (tokens[from + count - 1]).data));
    const text = textOf(Uint8Array.from(bytes));
    if (text !== null) return { text, from, count };
  }
  return { text: null, from, count: 1 };
}
