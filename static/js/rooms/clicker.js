/**
 * The clicker works wherever the teacher last clicked: the wall's window hands its keys on to the console's,
 * inside one browser and nowhere else. A browser without BroadcastChannel has the clicker on the console only.
 */

/** @param {string} code of the room @returns {BroadcastChannel | null} */
const channel = (code) => (typeof BroadcastChannel === "function" ? new BroadcastChannel(`firstword.clicker.${code}`) : null);

/** @param {string} code @returns {(key: import("./next_step.js").TeacherKey) => void} */
export function handOn(code) {
  const line = channel(code);
  return (key) => line?.postMessage(key);
}

/** @param {string} code @param {(key: import("./next_step.js").TeacherKey) => void} hear @returns {() => void} ends it */
export function listen(code, hear) {
  const line = channel(code);
  if (line) line.onmessage = ({ data }) => (data === "next" || data === "back" || data === "blank" || data === "pause") && hear(data);
  return () => line?.close();
}
