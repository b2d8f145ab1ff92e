/**
 * Which key does what on the stage, for hands and for clickers (which send Page Up and Page Down). Keys
 * in fields, and Space on a button, belong to these. Pure.
 *
 * @typedef {"start" | "pause" | "blank" | "back" | "on" | "replay" | "sheet" | { speed: number }} Action
 */

import { SPEEDS } from "./playhead.js";

/** @type {Record<string, Action>} */
const ACTIONS = { " ": "start", PageDown: "start", PageUp: "replay", ArrowLeft: "back", ArrowRight: "on", p: "pause", b: "blank", ".": "blank", r: "replay", "?": "sheet" };

/**
 * @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean }} event
 * @param {{ inField: boolean, onButton: boolean, lettersOn: boolean }} place
 * @returns {Action | null}
 */
export function actionOf({ key, ctrlKey, metaKey, altKey }, { inField, onButton, lettersOn }) {
  if (inField || ctrlKey || metaKey || altKey) return null;
  if (onButton && (key === " " || key === "Enter")) return null;
  // WCAG 2.1.4: keys that type a character can be turned off.
  if (key.length === 1 && key !== " " && !lettersOn) return null;
  const speed = /^[1-9]$/.test(key) ? SPEEDS[Number(key) - 1] : undefined;
  if (speed !== undefined) return { speed };
  const name = key.length === 1 ? key.toLowerCase() : key;
  return Object.hasOwn(ACTIONS, name) ? /** @type {Action} */ (ACTIONS[name]) : null;
}
