/**
 * Where the server is, seen from this page: the page's own address with another scheme and path, so
 * that https becomes wss. Pure.
 */

/** @param {string} page the page's address, such as location.href @returns {string} */
export const socketAddress = (page) => httpAddress(page, "ws").replace(/^http/, "ws");

/** @param {string} page @param {string} path such as "readyz" @returns {string} */
export const httpAddress = (page, path) => new URL(`/${path}`, page).href;
