/**
 * Conversations as files: saved by a link to a blob, read by a file field. What is wrong with a file is
 * said in its own words; what is here stays as it is.
 */

import { say } from "../words.js";
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

/** @param {unknown} error @returns {string} what is wrong with somebody's data, or with storing */
export function wordsOf(error) {
  const { word, values } = /** @type {{ word?: string, values?: Record<string, string | number> }} */ (error);
  if (word && values) return say("unreadable", { where: values.where ?? "", what: say(word, values) });
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
  download(id ? fileName(one, "json") : "firstword-chats.json", "application/json", toJson(conversations, Date.now()));
}

/** @param {import("../chat/library.js").Library} library @param {string} id */
async function exportMarkdown(library, id) {
  const { fileName, toMarkdown } = await import("../chat/archive.js");
  const [one] = await library.gather(id);
  if (one) download(fileName(one, "md"), "text/markdown", toMarkdown(one));
}

/** @param {string} name @param {string} type @param {string} text */
function download(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
