/**
 * Conversations from elsewhere → conversations as they are today: those that an earlier version of this
 * page has stored (trusted, of another shape), and those from somebody's file (of today's shape,
 * trusted in nothing). Pure.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {import("./conversation.js").Turn} Turn
 */

import { ROOT, newConversation } from "./conversation.js";
import { MAX_TEXT_CHARS, readReply } from "./reply_records.js";
import { readSettings } from "./settings.js";
import { orNull, readFinite, readId, readList, readObject, readText } from "./untrusted.js";

const MAX_TURNS = 5000;
const MAX_VERSIONS = 200;
const MAX_TITLE_CHARS = 200;

/**
 * Before version 2 turns were a list, without branches, titles and settings.
 * @param {any} stored
 * @returns {Conversation}
 */
export function upgraded(stored) {
  if (typeof stored.revision === "number") return stored;
  let parent = ROOT;
  /** @type {Turn[]} */
  const turns = [];
  for (const { id, question, replies } of stored.turns) {
    turns.push({ id, parent, question, replies });
    parent = replies.at(-1)?.id ?? parent;
  }
  return { ...newConversation(stored.id, stored.updated_epoch_ms), turns };
}

/**
 * Somebody's conversation, copied field by field. Raises Unreadable, which names the field.
 * @param {unknown} raw @param {string} where
 * @returns {Conversation}
 */
export function readConversation(raw, where) {
  const value = readObject(raw, where);
  const conversation = newConversation(readId(value.id, `${where}.id`), readFinite(value.updated_epoch_ms, `${where}.updated_epoch_ms`, 0));
  const turns = readList(value.turns, `${where}.turns`, MAX_TURNS).map((turn, i) => readTurn(turn, `${where}.turns[${i}]`));
  conversation.turns = turns;
  conversation.title = orNull(value.title, (title) => readText(title, `${where}.title`, MAX_TITLE_CHARS)) ?? "";
  conversation.settings = readSettings(value.settings).settings;
  conversation.chosen = readChosen(value.chosen ?? {}, turns, `${where}.chosen`);
  return conversation;
}

/**
 * The same conversation under new names, for one that is here already.
 * @param {Conversation} conversation @param {() => string} newId
 * @returns {Conversation}
 */
export function renamed(conversation, newId) {
  const names = new Map([[ROOT, ROOT]]);
  for (const turn of conversation.turns) for (const { id } of [turn, ...turn.replies]) names.set(id, newId());
  const name = (/** @type {string} */ id) => names.get(id) ?? id;
  return {
    ...conversation,
    id: newId(),
    revision: 0,
    removed: [],
    turns: conversation.turns.map((turn) => ({
      ...turn, id: name(turn.id), parent: name(turn.parent),
      replies: turn.replies.map((reply) => ({
        ...reply, id: name(reply.id), ...(reply.continues ? { continues: name(reply.continues) } : {}),
      })),
    })),
    chosen: Object.fromEntries(Object.entries(conversation.chosen).map(([fork, branch]) => [name(fork), name(branch)])),
  };
}

// Private

/** @param {unknown} raw @param {string} where @returns {Turn} */
function readTurn(raw, where) {
  const value = readObject(raw, where);
  return {
    id: readId(value.id, `${where}.id`),
    parent: value.parent === ROOT ? ROOT : readId(value.parent, `${where}.parent`),
    question: readText(value.question, `${where}.question`, MAX_TEXT_CHARS),
    replies: readList(value.replies, `${where}.replies`, MAX_VERSIONS).map((reply, i) => readReply(reply, `${where}.replies[${i}]`)),
  };
}

/** Choices that lead to what is really there.
 * @param {unknown} raw @param {Turn[]} turns @param {string} where @returns {Record<string, string>} */
function readChosen(raw, turns, where) {
  const value = readObject(raw, where);
  /** @type {Record<string, string>} */
  const chosen = {};
  for (const turn of turns) {
    if (Object.hasOwn(value, turn.parent) && value[turn.parent] === turn.id) chosen[turn.parent] = turn.id;
    const version = Object.hasOwn(value, turn.id) && turn.replies.find(({ id }) => id === value[turn.id]);
    if (version) chosen[turn.id] = version.id;
  }
  return chosen;
}
