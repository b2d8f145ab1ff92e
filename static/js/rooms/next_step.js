/**
 * The lesson's next step, and the one back: from the room's state to what the teacher would say. Also
 * which key of a keyboard or clicker means what. Pure.
 *
 * @typedef {import("./room_frames.js").Room} Room
 * @typedef {import("./room_frames.js").Phase} Phase
 * @typedef {"next" | "back" | "blank" | "pause"} TeacherKey
 */

/** @param {Room} room @returns {Phase | null} null: something has to be opened first */
export function nextPhase({ phase, round }) {
  switch (phase) {
    case "predict": return "watch";
    case "watch": return "vote";
    case "vote": return "reveal";
    case "reveal": return "discuss";
    case "discuss": return round?.revote_results ? "idle" : "vote";
    case "collect": return "sending";
    case "sending": return "results";
    case "results": return "idle";
    default: return null;
  }
}

/** @param {Room} room @returns {Phase | null} a watched stimulus can be played again; votes cannot be taken back */
export function backPhase({ phase }) {
  return phase === "watch" ? "watch" : null;
}

/** @param {Phase} phase @returns {boolean} something new can be opened from here */
export function isResting(phase) {
  return phase === "idle" || phase === "reveal" || phase === "discuss" || phase === "results";
}

/** Phases in order, of the thing that is open. @param {Room} room @returns {Phase[]} */
export function phasesOf({ sending }) {
  return sending ? ["collect", "sending", "results"] : ["predict", "watch", "vote", "reveal", "discuss"];
}

/** @type {Record<string, TeacherKey>} */
const KEYS = { PageDown: "next", ArrowRight: "next", " ": "next", PageUp: "back", ArrowLeft: "back", b: "blank", ".": "blank", p: "pause" };

/**
 * @param {{ key: string, ctrlKey: boolean, metaKey: boolean, altKey: boolean, repeat: boolean }} event
 * @param {{ inField: boolean, onButton: boolean, lettersOn: boolean }} place
 * @returns {TeacherKey | null}
 */
export function teacherKey({ key, ctrlKey, metaKey, altKey, repeat }, { inField, onButton, lettersOn }) {
  if (inField || ctrlKey || metaKey || altKey || repeat) return null;
  if (onButton && key === " ") return null;
  // WCAG 2.1.4: keys that type a character can be turned off.
  if (key.length === 1 && key !== " " && !lettersOn) return null;
  const name = key.length === 1 ? key.toLowerCase() : key;
  return Object.hasOwn(KEYS, name) ? (KEYS[name] ?? null) : null;
}
