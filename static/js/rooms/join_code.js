/**
 * Codes as people write and links carry them: any case, with spaces and hyphens; in a link's fragment,
 * where no server log ever sees them. Pure.
 */

const ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";
export const CODE_CHARS = 6;

/**
 * @param {string} text as typed
 * @returns {string} the code's characters so far: none that no code can have, and not too many
 */
export function tidyCode(text) {
  const tidy = [...text.toUpperCase()].filter((letter) => ALPHABET.includes(letter)).join("");
  return tidy.slice(0, CODE_CHARS);
}

/** @param {string} text @returns {string | null} the code, or null where it is none */
export function codeOf(text) {
  const bare = text.toUpperCase().replace(/[\s-]/g, "");
  return bare.length === CODE_CHARS && tidyCode(bare) === bare ? bare : null;
}

/** @param {string} code @returns {string} in two groups, as it is read aloud: "K7Q X2M" */
export function spellCode(code) {
  return `${code.slice(0, 3)}\u00a0${code.slice(3)}`;
}

/**
 * @param {string} fragment such as "#K7QX2M" or "#K7QX2M.secret"
 * @returns {{ code: string, secret: string } | null}
 */
export function readFragment(fragment) {
  const [text = "", secret = ""] = fragment.replace(/^#/, "").split(/\.(.*)/s);
  const code = codeOf(safely(text));
  return code === null ? null : { code, secret };
}

// Private

/** @param {string} text percent-encoded perhaps; a broken one is no code */
function safely(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
