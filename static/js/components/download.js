/** A file for whoever asked for it: a link to a blob, pressed once and then let go. */

/** A browser that asks where to put it still needs the blob meanwhile. */
const KEPT_MS = 60_000;

/** @param {string} name @param {Blob} blob */
export function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
