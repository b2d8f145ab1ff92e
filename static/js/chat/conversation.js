/**
 * A conversation: a tree. A turn is one question and its replies (asking again adds a version, it
 * deletes none); it hangs below the reply that it was asked after, so every version has its own
 * sequel, and editing a question adds a sibling beside it. What is on the page is one path through the
 * tree: at every fork the chosen branch, else the newest. Plain data that can be stored as it is, and
 * pure answers; every change makes a new conversation (replies alone grow in place, see reply.js).
 *
 * @typedef {import("./reply.js").Reply} Reply
 * @typedef {import("./settings.js").Settings} Settings
 * @typedef {{ id: string, parent: string, question: string, replies: Reply[] }} Turn
 *   `parent`: the id of the reply it was asked after, ROOT for a first question
 * @typedef {object} Conversation
 * @property {string} id
 * @property {number} revision how often it has been stored; 0: never
 * @property {string} title given by the reader; "": the first question is its title
 * @property {number} titled_epoch_ms
 * @property {number} updated_epoch_ms
 * @property {Settings} settings for the next reply
 * @property {number} settled_epoch_ms when they were chosen
 * @property {Turn[]} turns of all branches, in the order of their asking
 * @property {Record<string, string>} chosen parent → turn, turn → reply; what is not in it: the newest
 * @property {string[]} removed turns that were deleted, so that another tab's copy does not bring them back
 * @typedef {{ turn: Turn, reply: Reply | undefined, siblings: Turn[] }} Step of the shown path
 */

import { isLive } from "./reply.js";
import { plainSettings } from "./settings.js";

/** Parent of a first question; no id is empty. */
export const ROOT = "";
const MAX_TITLE_CHARS = 60;

/** @param {string} id @param {number} now_epoch_ms @param {Settings} [settings] @returns {Conversation} */
export const newConversation = (id, now_epoch_ms, settings = plainSettings()) => ({
  id, revision: 0, title: "", titled_epoch_ms: 0, updated_epoch_ms: now_epoch_ms, settings, settled_epoch_ms: 0,
  turns: [], chosen: {}, removed: [],
});

/** @param {Conversation} conversation @returns {Step[]} what is on the page, from the first question on */
export function shownPath(conversation) {
  /** @type {Map<string, Turn[]>} */
  const below = new Map();
  for (const turn of conversation.turns) below.set(turn.parent, [...(below.get(turn.parent) ?? []), turn]);
  /** @type {Step[]} */
  const path = [];
  let parent = ROOT;
  for (;;) {
    const siblings = below.get(parent) ?? [];
    const turn = pick(siblings, conversation.chosen, parent);
    // A reply that is its own ancestor can only come from a broken file; a path is never longer than the tree.
    if (!turn || path.length >= conversation.turns.length) return path;
    const reply = pick(turn.replies, conversation.chosen, turn.id);
    path.push({ turn, reply, siblings });
    if (!reply) return path;
    parent = reply.id;
  }
}

/** @param {Conversation} conversation @returns {string} what a new question is asked after */
export const endOf = (conversation) => shownPath(conversation).at(-1)?.reply?.id ?? ROOT;

/** @param {Conversation} conversation @param {string} replyId @returns {Turn | undefined} */
export const turnOf = (conversation, replyId) =>
  conversation.turns.find(({ replies }) => replies.some(({ id }) => id === replyId));

/** @param {Conversation} conversation @returns {Reply[]} replies still being made, on any branch */
export const liveReplies = (conversation) => conversation.turns.flatMap(({ replies }) => replies.filter(isLive));

/** A turn of its own, chosen: a new question, or an edited one beside its sibling.
 * @param {Conversation} conversation @param {Turn} turn @returns {Conversation} */
export const withTurn = (conversation, turn) => ({
  ...conversation,
  turns: [...conversation.turns, turn],
  chosen: { ...conversation.chosen, [turn.parent]: turn.id },
});

/** One more version, chosen. @param {Conversation} conversation @param {string} turnId @param {Reply} reply @returns {Conversation} */
export const withReply = (conversation, turnId, reply) => ({
  ...conversation,
  turns: conversation.turns.map((turn) => (turn.id === turnId ? { ...turn, replies: [...turn.replies, reply] } : turn)),
  chosen: { ...conversation.chosen, [turnId]: reply.id },
});

/** Go another way at a fork. @param {Conversation} conversation @param {string} fork a parent or a turn
 * @param {string} branch @returns {Conversation} */
export const withChoice = (conversation, fork, branch) => ({
  ...conversation, chosen: { ...conversation.chosen, [fork]: branch },
});

/** @param {Conversation} conversation @param {string} title @param {number} now_epoch_ms @returns {Conversation} */
export const withTitle = (conversation, title, now_epoch_ms) => ({
  ...conversation, title: title.trim().slice(0, 200), titled_epoch_ms: now_epoch_ms,
});

/** @param {Conversation} conversation @param {Settings} settings @param {number} now_epoch_ms @returns {Conversation} */
export const withSettings = (conversation, settings, now_epoch_ms) => ({
  ...conversation, settings, settled_epoch_ms: now_epoch_ms,
});

/**
 * Delete a turn with all that was asked after it.
 * @param {Conversation} conversation @param {string} turnId
 * @returns {{ conversation: Conversation, gone: Turn[] }}
 */
export function withoutTurn(conversation, turnId) {
  const first = conversation.turns.find(({ id }) => id === turnId);
  const gone = first ? [first] : [];
  for (let at = 0; at < gone.length; at += 1) {
    const replies = new Set(gone[at]?.replies.map(({ id }) => id));
    gone.push(...conversation.turns.filter((turn) => replies.has(turn.parent) && !gone.includes(turn)));
  }
  const removed = [...conversation.removed, ...gone.map(({ id }) => id)];
  const turns = conversation.turns.filter((turn) => !gone.includes(turn));
  return { conversation: { ...conversation, turns, removed }, gone };
}

/**
 * Undo of withoutTurn. The turns come back under new names, because every tab has been told that
 * the old ones are gone.
 * @param {Conversation} conversation @param {Turn[]} gone @param {() => string} newId
 * @returns {Conversation}
 */
export function withTurnsBack(conversation, gone, newId) {
  const chosen = { ...conversation.chosen };
  const turns = gone.map((turn) => {
    const id = newId();
    if (Object.hasOwn(chosen, turn.id)) chosen[id] = /** @type {string} */ (chosen[turn.id]);
    if (chosen[turn.parent] === turn.id) chosen[turn.parent] = id;
    return { ...turn, id };
  });
  const [first] = turns;
  if (first) chosen[first.parent] = first.id;
  return { ...conversation, turns: [...conversation.turns, ...turns], chosen };
}

/** @param {Conversation} conversation @returns {Conversation} without turns that hang on nothing */
export function rooted(conversation) {
  const held = new Set([ROOT]);
  const reached = new Set();
  for (let grown = true; grown; ) {
    const next = conversation.turns.filter((turn) => held.has(turn.parent) && !reached.has(turn));
    for (const turn of next) {
      reached.add(turn);
      for (const { id } of turn.replies) held.add(id);
    }
    grown = next.length > 0;
  }
  return { ...conversation, turns: conversation.turns.filter((turn) => reached.has(turn)) };
}

/** @param {Conversation} conversation @returns {string} as given, else its first question, shortened */
export function titleOf(conversation) {
  if (conversation.title) return conversation.title;
  const question = (shownPath(conversation)[0]?.turn.question ?? "").trim().replace(/\s+/g, " ");
  const chars = Array.from(question);
  return chars.length > MAX_TITLE_CHARS ? `${chars.slice(0, MAX_TITLE_CHARS - 1).join("")}…` : question;
}

// Private

/**
 * @template {{ id: string }} T
 * @param {T[]} branches @param {Record<string, string>} chosen @param {string} fork
 * @returns {T | undefined}
 */
function pick(branches, chosen, fork) {
  const wanted = Object.hasOwn(chosen, fork) ? chosen[fork] : undefined;
  return branches.find(({ id }) => id === wanted) ?? branches.at(-1);
}
