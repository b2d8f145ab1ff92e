/**
 * What stands behind "Where the time went": the waterfall of the first word, the tokens where they
 * were asked for, and the way to the network's self-check. Fetched when it is first opened.
 */

import { say, speak } from "../words.js";
import { fetchSheet } from "./late_sheet.js";
import { element } from "./parts.js";
import { openSelfCheck } from "./self_check.js";
import { tokenInspector } from "./token_inspector.js";
import { waterfall } from "./waterfall.js";

/** @param {HTMLElement} body empty @param {import("../chat/reply.js").Reply} reply that is over */
export async function showDeeper(body, reply) {
  await Promise.all([speak(["details"]), fetchSheet("details")]);
  const check = element("button", "quiet", say("checkNetwork"));
  check.setAttribute("type", "button");
  check.addEventListener("click", () => void openSelfCheck(location.href));
  body.replaceChildren(waterfall(reply), ...(reply.seen ? [tokenInspector(reply)] : []), check);
}
