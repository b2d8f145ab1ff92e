/** Bytes as people can read them: as text with its control signs spelt out, or as pairs of hex. Pure. */

const SIGNS = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);

/** @param {Uint8Array} bytes @param {number} most @returns {string} */
export function asText(bytes, most) {
  const text = new TextDecoder().decode(bytes.subarray(0, most)).replace(/[\u0000-\u001f\u007f]/g, (sign) => SIGNS.get(sign) ?? `\\x${hex(sign.charCodeAt(0))}`);
  return text + rest(bytes, most);
}

/** @param {Uint8Array} bytes @param {number} most @returns {string} */
export function asHex(bytes, most) {
  return Array.from(bytes.subarray(0, most), hex).join(" ") + rest(bytes, most);
}

// Private

/** @param {number} byte */
const hex = (byte) => byte.toString(16).padStart(2, "0");

/** @param {Uint8Array} bytes @param {number} most */
const rest = (bytes, most) => (bytes.length > most ? ` … +${bytes.length - most}` : "");
