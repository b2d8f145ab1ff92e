/**
 * Where the server is, seen from this page: the page's own address with another scheme or path, so
 * that https becomes wss and a sub-path is kept. Pure.
 */

/**
 * @param {string} page the page's address, such as location.href
 * @param {string} base folder of the application, as the page's `<base>`-like data attribute says ("/")
 * @returns {string}
 */
export function socketAddress(page, base = "/") {
  const url = new URL(`${base}ws`, page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.search = "";
  url.hash = "";
  return url.href;
}

/**
 * @param {string} page
 * @param {string} path such as "readyz"
 * @param {string} base
 */
export function httpAddress(page, path, base = "/") {
  return new URL(base + path, page).href;
}
