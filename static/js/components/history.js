/**
 * The small history of first words under a conversation. It is there from the second measured reply
 * on, and its drawing is fetched then.
 *
 * @typedef {import("../chat/reply.js").Reply} Reply
 */

import { waitsOf } from "../measure/history.js";

/**
 * @param {HTMLElement} root empty
 * @param {() => Reply[]} replies of the shown conversation, in the order of asking
 * @returns {{ update(): void }} call it when another conversation is shown
 */
export function mountHistory(root, replies) {
  const update = () => {
    const waits = waitsOf(replies());
    root.hidden = waits.length < 2;
    if (!root.hidden) void import("./ttft_history.js").then(({ showHistory }) => showHistory(root, waits));
  };
  document.body.addEventListener("measured", update);
  return { update };
}
