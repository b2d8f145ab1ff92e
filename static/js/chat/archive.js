/**
 * Conversations as a file and back: JSON (all of it, to be read in again) and Markdown (the shown path,
 * for people). A file is untrusted: it is checked field by field and nothing that is here is replaced;
 * what has the name of something here comes in under a new name. Pure.
 *
 * @typedef {import("./conversation.js").Conversation} Conversation
 */

import { say } from "../words.js";
import { rooted, shownPath, titleOf } from "./conversation.js";
import { readConversation, renamed } from "./records.js";
import { Unreadable, readList, readObject } from "./untrusted.js";

const FORMAT = "firstword.conversations";
const VERSION = 1;
const MAX_CONVERSATIONS = 5000;
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** @param {Conversation[]} conversations @param {number} now_epoch_ms @returns {string} */
export const toJson = (conversations, now_epoch_ms) =>
  JSON.stringify({ format: FORMAT, version: VERSION, exported_epoch_ms: now_epoch_ms, conversations: conversations.map(rooted) }, null, 1);

/**
 * @param {string} text of a file
 * @param {(id: string) => boolean} isHere whether a conversation of this name is here already
 * @param {() => string} newId
 * @returns {Conversation[]} ready to be stored as new ones. Raises Unreadable
 */
export function fromJson(text, isHere, newId) {
  if (text.length > MAX_FILE_BYTES) throw new Unreadable("tooLong", "file", { count: text.length, most: MAX_FILE_BYTES });
  const file = readObject(parsed(text), "file");
  if (file.format !== FORMAT) throw new Unreadable("notOurs", "format");
  if (file.version !== VERSION) throw new Unreadable("otherVersion", "version", { version: VERSION });
  const seen = new Set();
  return readList(file.conversations, "conversations", MAX_CONVERSATIONS).map((raw, i) => {
    const conversation = checked(readConversation(raw, `conversations[${i}]`), `conversations[${i}]`);
    const clash = isHere(conversation.id) || seen.has(conversation.id);
    seen.add(conversation.id);
    return clash ? renamed(conversation, newId) : conversation;
  });
}

/** @param {Conversation} conversation @returns {string} */
export function toMarkdown(conversation) {
  const turns = shownPath(conversation).map(({ turn, reply }) => {
    const question = turn.question.split("\n").map((line) => `> ${line}`).join("\n");
    const answer = reply ? `_${say(reply.mode)}_\n\n${reply.text || say("noText")}` : say("noText");
    return `${question}\n\n${answer}\n`;
  });
  const title = titleOf(conversation).replace(/\s+/g, " ");
  const system = conversation.settings.system.trim();
  return [`# ${title}\n`, ...(system ? [`_${say("system")}:_ ${system}\n`] : []), ...turns].join("\n");
}

/** @param {Conversation} conversation @param {string} suffix @returns {string} safe in every file system */
export function fileName(conversation, suffix) {
  const words = titleOf(conversation).toLowerCase().match(/[\p{L}\p{N}]+/gu)?.slice(0, 6).join("-");
  return `firstword-${(words || "chat").slice(0, 60)}.${suffix}`;
}

// Private

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    throw new Unreadable("notJson", "file");
  }
}

/** Each name once, and only what can be reached from a first question.
 * @param {Conversation} conversation @param {string} where @returns {Conversation} */
function checked(conversation, where) {
  const names = new Set();
  for (const turn of conversation.turns) {
    for (const { id } of [turn, ...turn.replies]) {
      if (names.has(id)) throw new Unreadable("twice", `${where}.turns`, { id: id.slice(0, 8) });
      names.add(id);
    }
  }
  return rooted(conversation);
}
