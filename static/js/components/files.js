/**
 * Conversations as files: saved by a link to a blob, read by a file field. What is wrong with a file is
 * said in its own words; what is here stays as it is.
 */

import { say } from "../words.js";
import { download } from "./download.js";
import { part } from "./parts.js";

/**
 * @param {ParentNode} root
 * @param {import("../chat/library.js").Library} library
 * @param {(text: string) => void} tell
 */
export function mountFiles(root, library, tell) {
  const shown = () => library.hand.shown.id;
  const click = (/** @type {string} */ name, /** @type {() => Promise<void>} */ act) =>
    part(root, name, HTMLButtonElement).addEventListener("click", () => act().catch((error) => tell(wordsOf(error))));
  click("export-one-json", () => exportJson(library, shown()));
  click("export-one-markdown", () => exportMarkdown(library, shown()));
  click("export-all", () => exportJson(library));
  const field = part(root, "import", HTMLInputElement);
  field.addEventListener("change", async () => {
    const file = field.files?.[0];
    if (!file) return;
    tell(await takeIn(library, file));
    field.value = ""; // The same file may be chosen again.
  });
}

/** @param {unknown} error @returns {string} what is wrong with somebody's data, with storing, or with the way to the server */
export function wordsOf(error) {
  const { word, values } = /** @type {{ word?: string, values?: Record<string, string | number> }} */ (error);
  if (word && values) return say("unreadable", { where: values.where ?? "", what: say(word, values) });
  // So a browser says that a module, fetched when it is first wanted, could not be had.
  if (error instanceof TypeError) return say("fetchAgain");
  return say("notSaved", { why: error instanceof Error ? error.name : "?" });
}

// Private

/** @param {import("../chat/library.js").Library} library @param {File} file */
async function takeIn(library, file) {
  const { MAX_FILE_BYTES } = await import("../chat/archive.js");
  if (file.size > MAX_FILE_BYTES) return say("fileTooLarge", { most: MAX_FILE_BYTES / 2 ** 20 });
  try {
    return say("imported", { count: await library.takeIn(await file.text()) });
  } catch (error) {
    return wordsOf(error);
  }
}

/** @param {import("../chat/library.js").Library} library @param {string} [id] */
async function exportJson(library, id) {
  const { fileName, toJson } = await import("../chat/archive.js");
  const conversations = await library.gather(id);
  const [one] = conversations;
  if (!one) return;
  save(id ? fileName(one, "json") : "firstword-chats.json", "application/json", toJson(conversations, Date.now()));
}

/** @param {import("../chat/library.js").Library} library @param {string} id */
async function exportMarkdown(library, id) {
  const { fileName, toMarkdown } = await import("../chat/archive.js");
  const [one] = await library.gather(id);
  if (one) save(fileName(one, "md"), "text/markdown", toMarkdown(one));
}

/** @param {string} name @param {string} type @param {string} text */
const save = (name, type, text) => download(name, new Blob([text], { type: `${type};charset=utf-8` }));
