/**
 * Small choices that outlive the page: a browser may forbid storage altogether, so reading gives the
 * default and writing gives up quietly. Losing a choice is no reason to disturb anyone.
 */

/** @param {string} name @param {string} otherwise @param {Storage | null} [storage] */
export function recall(name, otherwise, storage = safely(() => localStorage)) {
  return safely(() => storage?.getItem(`firstword.${name}`)) ?? otherwise;
}

/** @param {string} name @param {string} value @param {Storage | null} [storage] */
export function remember(name, value, storage = safely(() => localStorage)) {
  safely(() => storage?.setItem(`firstword.${name}`, value));
}

/** @returns {Storage | null} storage of this tab only */
export const tabStorage = () => safely(() => sessionStorage);

// Private

/** @template T @param {() => T} action @returns {T | null} */
function safely(action) {
  try {
    return action();
  } catch {
    return null;
  }
}
