/**
 * Search in conversations: every word of the query has to occur somewhere in one, in any case and with
 * or without accents; the answer is a passage around the first hit, cut into plain and marked pieces.
 * No ranking: the list's order stays. Pure.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {{ text: string, hit: boolean }} Piece
 */

import { titleOf } from "./conversation.js";

const BEFORE_CHARS = 30;
const PASSAGE_CHARS = 120;
const MAX_WORDS = 8;

/** @param {string} query @returns {string[]} its words, folded; [] for an empty query */
export const wordsOf = (query) => fold(query).split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);

/**
 * @param {Conversation} conversation @param {string[]} words from wordsOf
 * @returns {Piece[] | null} a passage, or null: not found
 */
export function found(conversation, words) {
  const texts = [titleOf(conversation), ...conversation.turns.flatMap(({ question, replies }) => [question, ...replies.map(({ text }) => text)])];
  const folded = texts.map(fold);
  if (!words.every((word) => folded.some((text) => text.includes(word)))) return null;
  // The title is on the page anyway; of the other texts the one that has the most of the words.
  const counts = folded.map((text, i) => (i > 0 ? words.filter((word) => text.includes(word)).length : 0));
  return passage(texts[counts.indexOf(Math.max(...counts))] ?? "", words);
}

/**
 * @param {string} text @param {string[]} words
 * @returns {Piece[]} the text with its hits marked
 */
export function marked(text, words) {
  const folded = fold(text);
  // Folding may change lengths (ß, İ); then marks would be misplaced, and none is better.
  if (folded.length !== text.length || words.length === 0) return [{ text, hit: false }];
  /** @type {Piece[]} */
  const pieces = [];
  let at = 0;
  while (at < text.length) {
    const next = words.map((word) => ({ word, place: folded.indexOf(word, at) })).filter(({ place }) => place >= 0)
      .sort((a, b) => a.place - b.place || b.word.length - a.word.length)[0];
    const end = next ? next.place : text.length;
    if (end > at) pieces.push({ text: text.slice(at, end), hit: false });
    if (next) pieces.push({ text: text.slice(end, end + next.word.length), hit: true });
    at = next ? end + next.word.length : end;
  }
  return pieces;
}

// Private

/** @param {string} text */
const fold = (text) => (/[^\x00-\x7f]/.test(text) ? Array.from(text, foldChar).join("") : text.toLowerCase());

/** One character in, as many UTF-16 units out wherever that is possible, so that places stay.
 * @param {string} char */
function foldChar(char) {
  const plain = char.normalize("NFD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
  return plain.length === char.length ? plain : char.toLowerCase();
}

/** @param {string} text @param {string[]} words */
function passage(text, words) {
  const folded = fold(text);
  const place = Math.min(...words.map((word) => folded.indexOf(word)).filter((at) => at >= 0));
  const from = Number.isFinite(place) ? Math.max(0, place - BEFORE_CHARS) : 0;
  const cut = text.slice(from, from + PASSAGE_CHARS).replace(/\s/g, " ");
  const pieces = marked(cut, words);
  if (from > 0) pieces.unshift({ text: "…", hit: false });
  if (from + PASSAGE_CHARS < text.length) pieces.push({ text: "…", hit: false });
  return pieces;
}
