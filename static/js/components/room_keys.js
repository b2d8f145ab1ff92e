/**
 * Keys and clicker in the classroom: what was pressed, where, and whether letters count. What it does is
 * handed in; a dialog and a field keep their own keys.
 */

import { teacherKey } from "../rooms/next_step.js";
import { lettersAreOn } from "./letters.js";

/** @param {HTMLElement} page @param {(key: import("../rooms/next_step.js").TeacherKey) => void} act */
export function mountTeacherKeys(page, act) {
  page.addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : page;
    if (event.isComposing || target.closest("dialog")) return;
    const key = teacherKey(event, {
      inField: target.closest("textarea, select, input:not([type=checkbox])") !== null,
      onButton: target.closest("button, summary, a, input[type=checkbox]") !== null, lettersOn: lettersAreOn(),
    });
    if (!key) return;
    event.preventDefault();
    act(key);
  });
}
