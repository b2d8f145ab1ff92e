/**
 * What the server knows about recordings: those that ship, the log of a reply, itself, and the page
 * that replays a recording without it. Answers are checked; a list that does not come is an empty one.
 */

import { httpAddress } from "../stream/address.js";
import { readFrame } from "../stream/frames.js";
import { refusalOf } from "../stream/one_request.js";
import { NotComplete } from "./recording.js";

/** @typedef {{ id: string, title: string, model: string, tokens: number, total_ms: number }} Shipped */

export class Archive {
  /** @param {string} page the page's own address */
  constructor(page) {
    this.page = page;
  }

  /** @returns {Promise<Shipped[]>} */
  async shipped() {
    const { recordings } = await this.#json("api/recordings").catch(() => ({ recordings: [] }));
    const known = Array.isArray(recordings) ? recordings : [];
    return known.filter((card) => ["id", "title", "model"].every((name) => typeof card?.[name] === "string"));
  }

  /** @param {string} id @returns {Promise<string>} what was asked in it */
  async question(id) {
    const { prompt } = await this.#json(`api/recordings/${encodeURIComponent(id)}`);
    return String(prompt?.messages?.at(-1)?.content ?? "");
  }

  /** @returns {Promise<import("./recording.js").About | null>} */
  async about() {
    return this.#json("api/about").catch(() => null);
  }

  /** The reply's own log, token by token. @param {string} reply @returns {Promise<import("../events.js").ServerEvent[]>} Throws NotComplete. */
  async log(reply) {
    const address = httpAddress(this.page, `api/replies/${encodeURIComponent(reply)}?pace=token`);
    const response = await fetch(address, { headers: { accept: "application/x-ndjson" } });
    if (!response.ok) throw new NotComplete();
    const events = (await response.text()).split("\n").map(readFrame);
    return events.filter((event) => event !== null);
  }

  /** One file that replays the recording offline. @param {Record<string, unknown>} recording @returns {Promise<Blob>} */
  async html(recording) {
    const response = await fetch(httpAddress(this.page, "api/recordings/html"), {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(recording),
    });
    if (!response.ok) {
      throw new Error((await refusalOf(response)).message);
    }
    return response.blob();
  }

  // Private

  /** @param {string} path @returns {Promise<any>} */
  async #json(path) {
    const response = await fetch(httpAddress(this.page, path), { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return response.json();
  }
}
