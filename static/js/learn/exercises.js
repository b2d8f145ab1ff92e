/**
 * The exercises' answers, and whether an answer is right. Answers stay in the page: nothing is stored
 * or sent. The questions' words are in words/<language>/learn.js under the exercise's name. Pure.
 *
 * @typedef {{ kind: "number", answer: number, tolerance: number } | { kind: "choice", answer: number, choices: number }} Exercise
 */

/** @type {Record<string, Exercise>} */
export const EXERCISES = {
  "tokens-per-second": { kind: "number", answer: 5.2, tolerance: 0.11 },
  "sooner-or-faster": { kind: "choice", answer: 1, choices: 3 },
  "long-letter": { kind: "choice", answer: 0, choices: 3 },
  queue: { kind: "number", answer: 75, tolerance: 0.5 },
  orca: { kind: "number", answer: 2, tolerance: 0 },
  marks: { kind: "number", answer: 48, tolerance: 0 },
  utf8: { kind: "choice", answer: 1, choices: 3 },
  clerk: { kind: "choice", answer: 1, choices: 3 },
  votes: { kind: "number", answer: 15, tolerance: 0 },
  friend: { kind: "choice", answer: 1, choices: 3 },
};

/**
 * @param {Exercise} exercise
 * @param {string} given what was typed, or the number of the choice; "" for none
 * @returns {boolean | null} null: that is no answer at all
 */
export function isRight(exercise, given) {
  // A decimal comma is a decimal point to half of the world.
  const text = given.trim().replace(",", ".");
  if (text === "" || !Number.isFinite(Number(text))) return null;
  const off = Math.abs(Number(text) - exercise.answer);
  return exercise.kind === "choice" ? off === 0 : off <= exercise.tolerance + 1e-9;
}
