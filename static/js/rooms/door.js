/**
 * The way into a room over HTTP: opening, joining, keys, addresses. A refusal becomes an error whose
 * message may be shown. It refuses to know who asks and why.
 */

import { httpAddress } from "../stream/address.js";
import { refusalOf } from "../stream/one_request.js";

/** The server said no, and why. */
export class Refused extends Error {
  /** @param {{ code: string, message: string }} refusal @param {number} status */
  constructor({ code, message }, status) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export class Door {
  /** @param {string} page the page's own address */
  constructor(page) {
    this.page = page;
  }

  /** @param {string} title @returns {Promise<{ code: string, wall_token: string }>} */
  open(title) {
    return this.#ask("POST", "api/rooms", title ? { title } : {});
  }

  /** @param {string} code @param {string} id from an earlier time, or "" @returns {Promise<{ id: string, number: number, code: string }>} */
  join(code, id) {
    return this.#ask("POST", `api/rooms/${code}/participants`, id ? { id } : {});
  }

  /** @param {string} code @param {string} key */
  becomeHost(code, key) {
    return this.#ask("POST", `api/rooms/${code}/host`, { key });
  }

  /** @param {string} code @returns {Promise<string>} */
  async key(code) {
    return (await this.#ask("GET", `api/rooms/${code}/key`)).key;
  }

  /** Where phones reach this server now; empty for who may not know it. @param {string} code @returns {Promise<string[]>} */
  async addresses(code) {
    const { bases } = await this.#ask("GET", `api/rooms/${code}/addresses`).catch(() => ({ bases: [] }));
    return Array.isArray(bases) ? bases : [];
  }

  /** @param {string} code @param {string} base @returns {string} the picture's address */
  qr(code, base) {
    return httpAddress(this.page, `api/rooms/${code}/qr.svg?base=${encodeURIComponent(base)}`);
  }

  /** @param {string} code @param {"csv" | "json"} kind */
  file(code, kind) {
    return httpAddress(this.page, `api/rooms/${code}/export.${kind}`);
  }

  /** @param {string} code @returns {string} the address of its socket */
  socket(code) {
    return httpAddress(this.page, `ws/rooms/${code}`).replace(/^http/, "ws");
  }

  // Private

  /** @param {string} method @param {string} path @param {object} [body] @returns {Promise<any>} */
  async #ask(method, path, body) {
    const response = await fetch(httpAddress(this.page, path), {
      method, cache: "no-store",
      ...(body ? { headers: { "content-type": "application/json" }, body: JSON.stringify(body) } : {}),
    });
    if (!response.ok) throw new Refused(await refusalOf(response), response.status);
    return response.status === 204 ? null : response.json();
  }
}
