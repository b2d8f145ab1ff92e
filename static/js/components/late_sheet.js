/**
 * A style sheet that only a part of the page needs which few people open: fetched with that part, once.
 */

/** @type {Map<string, Promise<void>>} */
const fetched = new Map();

/** @param {string} name of the file in static/css @returns {Promise<void>} when it counts; also where it cannot be had */
export function fetchSheet(name) {
  let sheet = fetched.get(name);
  if (!sheet) {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL(`../../css/${name}.css`, import.meta.url).href;
    sheet = new Promise((resolve) => {
      link.onload = link.onerror = () => resolve();
    });
    document.head.append(link);
    fetched.set(name, sheet);
  }
  return sheet;
}
