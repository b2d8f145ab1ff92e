/**
 * A conversation: turns of one question and the replies to it (asking again adds a reply, it deletes
 * none). Plain data that can be stored as it is, and the pure questions the page asks of it.
 *
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {{ id: string, question: string, replies: Reply[] }} Turn
 * @typedef {{ id: string, updated_epoch_ms: number, turns: Turn[] }} Conversation
 */

import { isLive } from "./reply.js";

/** The server takes 64 messages; the oldest turns are left out first. */
const MAX_MESSAGES = 63;

/** @param {string} id @param {number} now_epoch_ms @returns {Conversation} */
export const newConversation = (id, now_epoch_ms) => ({ id, updated_epoch_ms: now_epoch_ms, turns: [] });

/** @param {Conversation} conversation @param {Turn} turn @returns {Conversation} */
export const withTurn = (conversation, turn) => ({ ...conversation, turns: [...conversation.turns, turn] });

/** @param {Conversation} conversation @param {string} turnId @param {Reply} reply @returns {Conversation} */
export const withReply = (conversation, turnId, reply) => ({
  ...conversation,
  turns: conversation.turns.map((turn) =>
    turn.id === turnId ? { ...turn, replies: [...turn.replies, reply] } : turn),
});

/** @param {Turn} turn @returns {Reply | undefined} the one that is shown and gone on with */
export const shownReply = (turn) => turn.replies.at(-1);

/** @param {Conversation} conversation @returns {Reply | undefined} a reply that is still being made */
export function liveReply(conversation) {
  const last = conversation.turns.at(-1);
  const reply = last && shownReply(last);
  return reply && isLive(reply) ? reply : undefined;
}

/**
 * What the model is told to answer one turn: everything before it, then its question.
 * @param {Conversation} conversation
 * @param {string} turnId
 * @returns {import("../events.js").Message[]}
 */
export function messagesFor(conversation, turnId) {
  /** @type {import("../events.js").Message[]} */
  const messages = [];
  for (const turn of conversation.turns) {
    if (turn.id === turnId) {
      messages.push({ role: "user", content: turn.question });
      break;
    }
    const text = shownReply(turn)?.text;
    // A question that got no word would read as two questions in a row; models are not made for that.
    if (text) messages.push({ role: "user", content: turn.question }, { role: "assistant", content: text });
  }
  return messages.slice(-MAX_MESSAGES);
}

/** @param {Conversation} conversation @returns {string} its first question, shortened */
export function titleOf(conversation) {
  const question = (conversation.turns[0]?.question ?? "").trim().replace(/\s+/g, " ");
  return question.length > 60 ? `${question.slice(0, 59)}…` : question;
}
