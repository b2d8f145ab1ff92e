/**
 * What the model is told: the system prompt, the way from the first question to this one, and, when a
 * reply is gone on with, its text so far as the last message. The oldest turns are left out first,
 * in whole turns, so that it fits into one frame of the wire. Pure.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {import("../events.js").Message} Message
 */

import { turnOf } from "./conversation.js";

/** The server takes 64 messages. */
const MAX_MESSAGES = 64;
export const MAX_FRAME_BYTES = 65_536;
/** Messages of a frame, in which a character can take six bytes (\u0000) and the settings want room. */
export const MAX_BYTES = 60_000;

/**
 * @param {Conversation} conversation
 * @param {import("./conversation.js").Turn} turn
 * @param {string} system "" for none
 * @param {string} [begun] the reply's text so far, to be gone on with
 * @returns {Message[]}
 */
export function messagesFor(conversation, turn, system, begun = "") {
  /** @type {Message[]} */
  const last = [{ role: "user", content: turn.question }];
  if (begun) last.push({ role: "assistant", content: begun });
  /** @type {Message[]} */
  const first = system.trim() ? [{ role: "system", content: system }] : [];
  let room = MAX_BYTES - bytesOf([...first, ...last]);
  let places = MAX_MESSAGES - first.length - last.length;
  /** @type {Message[]} */
  let before = [];
  for (const pair of earlierPairs(conversation, turn)) {
    room -= bytesOf(pair);
    places -= pair.length;
    if (room < 0 || places < 0) break;
    before = [...pair, ...before];
  }
  return [...first, ...before, ...last];
}

/** @param {unknown} value @returns {number} what it takes on the wire */
export const bytesOf = (value) => new TextEncoder().encode(JSON.stringify(value)).length;

// Private

/**
 * Questions and replies above this turn, the nearest first.
 * @param {Conversation} conversation @param {import("./conversation.js").Turn} turn
 * @returns {Generator<Message[]>}
 */
function* earlierPairs(conversation, turn) {
  let below = turn;
  for (let steps = 0; steps < conversation.turns.length; steps += 1) {
    const above = turnOf(conversation, below.parent);
    if (!above) return;
    const text = above.replies.find(({ id }) => id === below.parent)?.text;
    // A question that got no word would read as two questions in a row; models are not made for that.
    if (text) yield [{ role: "user", content: above.question }, { role: "assistant", content: text }];
    below = above;
  }
}
