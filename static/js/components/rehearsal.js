/**
 * The first answer, rehearsed for nobody while the page rests. A browser compiles a function and a search
 * pattern when they are first used, and measures a letter when it is first set; otherwise all of that would
 * stand between a reader's first Enter and the first word. The real parts play a made-up turn, in small
 * tasks between which the browser does what it likes. It refuses to send, to store and to show: the turn is
 * in the document only within a task that lays it out, so neither eye nor ear nor script meets it.
 */

import { newConversation, ROOT, withTurn } from "../chat/conversation.js";
import { LiveReplies } from "../chat/live_replies.js";
import { messagesFor } from "../chat/question.js";
import { newReply } from "../chat/reply.js";
import { Transcript } from "./transcript.js";

const NAME = "rehearsal";
const LETTER = "A";
const REST = " **first** word with `code`.";
/** Also a busy page comes to it. */
const IDLE_WITHIN_MS = 1000;

/**
 * @param {import("../answer/libraries.js").Marked | null} marked
 * @param {AbortSignal} signal somebody asks in earnest: that plays the rest
 * @param {(task: () => void) => Promise<void>} [idle] runs a task when the browser has nothing to do
 * @returns {Promise<void>} when it is over
 */
export async function rehearse(marked, signal, idle = whenIdle) {
  const reply = newReply(NAME, "streamed", 0);
  const turn = { id: NAME, parent: ROOT, question: NAME, replies: [reply] };
  const conversation = withTurn(newConversation(NAME, 0), turn);
  const live = new LiveReplies({ send: () => true, modelReady: () => true, firstPaint() {}, changed() {}, ended() {} });
  const root = document.createElement("div");
  const transcript = new Transcript(root, marked, (one) => live.timeOf(one));
  const view = () => transcript.view(reply);
  const said = { reply: NAME, id: NAME, t: 0 };
  const tasks = [
    () => transcript.update(conversation),
    // Reading Markdown for the first time is the longest of them; nothing else is done in its task.
    () => view().paint(LETTER),
    () => view().paint(REST),
    () => live.begin(reply, messagesFor(conversation, turn, ""), performance.now(), view),
    () => live.hear({ type: "queued", position: 0, ...said }),
    () => layOut(root),
    () => live.hear({ type: "started", model: NAME, prompt_tokens: 1, cached_tokens: 0, ...said }),
    () => live.hear({ type: "delta", seq: 1, text: LETTER + REST, tokens: 1, ...said }),
    () => layOut(root),
  ];
  for (const task of tasks) await idle(() => signal.aborted || task());
  live.stop(NAME);
}

// Private

/** @param {() => void} task @returns {Promise<void>} */
const whenIdle = (task) => new Promise((done) => {
  const run = () => (task(), done());
  if ("requestIdleCallback" in globalThis) requestIdleCallback(run, { timeout: IDLE_WITHIN_MS });
  else setTimeout(run); // Safari
});

/** In the document, as large as the window, and out of it again. @param {HTMLElement} root */
function layOut(root) {
  Object.assign(root.style, { position: "fixed", inset: "0", visibility: "hidden", contain: "strict" });
  document.body.append(root);
  root.getBoundingClientRect();
  root.remove();
}
