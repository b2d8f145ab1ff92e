/**
 * Names for replies and conversations. `crypto.randomUUID` exists only in secure contexts, and a
 * classroom is plain http on a LAN address; `getRandomValues` exists everywhere.
 */

/** @returns {string} 128 random bits as 32 hexadecimal digits */
export function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
