/**
 * The door one level below the numbers: where the time went, token by token, and whether the network
 * streams. What stands behind it is fetched when it is opened for the first time, so that the page
 * stays light for those who never look.
 *
 * @typedef {import("../chat/reply.js").Reply} Reply
 */

import { isLive } from "../chat/reply.js";
import { say } from "../words.js";
import { part, setText } from "./parts.js";

/**
 * @param {HTMLElement} root of the reply
 * @param {Reply} reply
 * @returns {{ update(): void }}
 */
export function mountDeeper(root, reply) {
  const details = part(root, "deeper", HTMLDetailsElement);
  const body = part(root, "deeper-body", HTMLElement);
  const opened = async () => {
    const { showDeeper } = await import("./reply_details.js");
    await showDeeper(body, reply);
  };
  details.addEventListener("toggle", () => {
    if (details.open && body.childElementCount === 0) opened().catch(() => setText(body, say("notFetched")));
  });
  return {
    update() {
      // A resumed reply has no whole clock; what was never heard of cannot be explained.
      details.hidden = isLive(reply) || (!reply.trace?.first && !reply.seen);
    },
  };
}
