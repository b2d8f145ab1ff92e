/**
 * The help sheet: every key, the switch for letter keys, and the way to the network's self-check.
 */

import { say, speak } from "../words.js";
import { openDialog } from "./dialog.js";
import { fetchSheet } from "./late_sheet.js";
import { lettersAreOn, turnLetters } from "./letters.js";
import { element } from "./parts.js";
import { openSelfCheck } from "./self_check.js";

/** Keys as they stand on a keyboard, and what they do. @type {[string[], string][]} */
const KEYS = [
  [["Enter"], "keySend"],
  [["Shift", "Enter"], "keyLine"],
  [["Esc"], "keyStop"],
  [["T"], "keyMode"],
  [["P"], "keyPause"],
  [["?"], "keyHelp"],
  [["Tab"], "keyTab"],
  [["←", "→"], "keyTokens"],
];

/** @param {HTMLElement} page */
export async function openHelp(page) {
  await Promise.all([speak(["details"]), fetchSheet("details")]);
  // The list of chats may stand open beside the page; over a dialog, or twice, the sheet has no place.
  if (page.querySelector("dialog:modal")) return;
  const list = element("dl", "keys-list");
  for (const [keys, what] of KEYS) {
    list.append(element("dt", "", ...keys.map((key) => element("kbd", "", key))), element("dd", "", say(what)));
  }
  const letters = /** @type {HTMLInputElement} */ (element("input", ""));
  letters.type = "checkbox";
  letters.checked = lettersAreOn();
  letters.addEventListener("change", () => turnLetters(letters.checked));
  const check = element("button", "quiet", say("checkNetwork"));
  check.setAttribute("type", "button");
  const dialog = openDialog(say("helpTitle"), "help-sheet", list,
    element("label", "letters", letters, element("span", "", say("lettersOn"))),
    element("p", "deeper-small", say("helpPause")), check);
  check.addEventListener("click", () => {
    dialog.close();
    void openSelfCheck(location.href);
  });
}
