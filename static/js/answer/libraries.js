/**
 * The three libraries from npm, each fetched when it is first needed and once. Where npm was not run
 * the server says so in `data-libraries`, nothing is fetched, and callers get null: the page shows
 * plain text instead.
 *
 * @typedef {typeof import("marked")} Marked
 * @typedef {typeof import("@speed-highlight/core")} SpeedHighlight
 * @typedef {{ render(source: string, element: Element, options: object): void }} Temml
 */

/** @type {Map<string, Promise<any>>} */
const loaded = new Map();

/** @returns {Promise<Marked | null>} */
export const loadMarked = () => load("marked", "marked/lib/marked.esm.js");

/** @returns {Promise<SpeedHighlight | null>} */
export const loadSpeedHighlight = () => load("@speed-highlight/core", "@speed-highlight/core/dist/index.js");

/** @returns {Promise<Temml | null>} */
export async function loadTemml() {
  if (isInstalled("temml") && !document.querySelector("link[data-temml]")) {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = new URL("../../vendor/temml/dist/Temml-Local.css", import.meta.url).href;
    link.dataset.temml = "";
    document.head.append(link);
  }
  const module = await load("temml", "temml/dist/temml.mjs");
  return module?.default ?? null;
}

// Private

/**
 * @param {string} name
 * @param {string} path
 * @returns {Promise<any>}
 */
function load(name, path) {
  if (!isInstalled(name)) return Promise.resolve(null);
  let module = loaded.get(name);
  if (!module) {
    module = import(new URL(`../../vendor/${path}`, import.meta.url).href).catch(() => null);
    loaded.set(name, module);
  }
  return module;
}

/** @param {string} name */
function isInstalled(name) {
  return (document.documentElement.dataset.libraries ?? "").split(" ").includes(name);
}
