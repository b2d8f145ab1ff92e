/**
 * Two copies of one conversation, changed in two tabs, become one: all turns and versions of both, and
 * of a reply that both have, the copy that knows more. What one copy deleted stays deleted; of a title
 * and of settings the later choice counts; at a fork `mine` keeps its own way. Nothing is lost because
 * somebody stored first. Pure.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 * @typedef {import("./conversation.js").Turn} Turn
 * @typedef {import("./reply.js").Reply} Reply
 */

import { shownPath } from "./conversation.js";
import { isLive } from "./reply.js";

/** So many deletions are remembered; a tab that slept through more is no concern. */
const MAX_REMOVED = 2000;

/**
 * @param {Conversation} stored @param {Conversation} mine
 * @returns {Conversation} with the id of both and the higher revision
 */
export function mergeConversations(stored, mine) {
  const removed = [...new Set([...stored.removed, ...mine.removed])].slice(-MAX_REMOVED);
  const gone = new Set(removed);
  const named = mine.titled_epoch_ms >= stored.titled_epoch_ms ? mine : stored;
  const settled = mine.settled_epoch_ms >= stored.settled_epoch_ms ? mine : stored;
  return {
    id: mine.id,
    revision: Math.max(stored.revision, mine.revision),
    title: named.title,
    titled_epoch_ms: named.titled_epoch_ms,
    updated_epoch_ms: Math.max(stored.updated_epoch_ms, mine.updated_epoch_ms),
    settings: settled.settings,
    settled_epoch_ms: settled.settled_epoch_ms,
    turns: byId(stored.turns, mine.turns, mergeTurns).filter(({ id }) => !gone.has(id)),
    chosen: { ...stored.chosen, ...wayOf(mine) },
    removed,
  };
}

/**
 * Which of two copies of a reply knows more: one that is over; one whose clock ran from the click to
 * the end in one page; one with more text.
 * @param {Reply} stored @param {Reply} mine
 * @returns {Reply}
 */
export function betterReply(stored, mine) {
  const over = Number(!isLive(mine)) - Number(!isLive(stored));
  if (over !== 0) return over > 0 ? mine : stored;
  const whole = Number(!mine.flags.resumed) - Number(!stored.flags.resumed);
  if (whole !== 0 && !isLive(mine)) return whole > 0 ? mine : stored;
  if (mine.seq !== stored.seq) return mine.seq > stored.seq ? mine : stored;
  return (mine.lastPaint_ms ?? 0) >= (stored.lastPaint_ms ?? 0) ? mine : stored;
}

// Private

/** What is on the page stays there, also where it was only the newest until now. @param {Conversation} mine */
const wayOf = (mine) => ({
  ...mine.chosen,
  ...Object.fromEntries(shownPath(mine).flatMap(({ turn, reply }) => [[turn.parent, turn.id], ...(reply ? [[turn.id, reply.id]] : [])])),
});

/** @param {Turn} stored @param {Turn} mine @returns {Turn} */
const mergeTurns = (stored, mine) => ({ ...stored, replies: byId(stored.replies, mine.replies, betterReply) });

/**
 * @template {{ id: string }} T
 * @param {T[]} stored @param {T[]} mine @param {(stored: T, mine: T) => T} both
 * @returns {T[]} in the order of `stored`, then what only `mine` has
 */
function byId(stored, mine, both) {
  const rest = new Map(mine.map((item) => [item.id, item]));
  const merged = stored.map((item) => {
    const other = rest.get(item.id);
    rest.delete(item.id);
    return other ? both(item, other) : item;
  });
  return [...merged, ...rest.values()];
}
