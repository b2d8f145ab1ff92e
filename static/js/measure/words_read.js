/**
 * Words and reading: how many words a text holds, and how far a person reads in a time.
 * 238 words a minute is the mean for silent reading of English non-fiction in adults. Pure.
 */

export const WORDS_PER_MINUTE = 238;

/**
 * Words in a text: runs between spaces; each Han, kana or Thai sign counts as half a word, since these
 * scripts write no spaces.
 * @param {string} text
 */
export function countWords(text) {
  const signs = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu);
  const rest = signs ? text.replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu, " ") : text;
  const runs = rest.match(/\S*[\p{L}\p{N}]\S*/gu);
  return (runs ? runs.length : 0) + (signs ? Math.ceil(signs.length / 2) : 0);
}

/** @param {number} ms @returns {number} whole words that can be read in the time */
export function wordsReadIn(ms) {
  return Math.max(0, Math.floor((ms / 60_000) * WORDS_PER_MINUTE));
}

/** @param {number} words @returns {number} milliseconds that reading them takes */
export function readingTime_ms(words) {
  return (words / WORDS_PER_MINUTE) * 60_000;
}
