/**
 * News between the tabs of one browser: which conversation was stored or deleted. The content itself
 * goes through the store. Where a browser has no BroadcastChannel, or refuses it to who may not store,
 * tabs learn of each other when they save. Nothing is told to the tab that said it.
 *
 * @typedef {{ kind: "stored" | "removed", id: string, revision: number }} News
 */

export class Tabs {
  #channel = channelOrNone();

  /** @param {(news: News) => void} hear */
  listen(hear) {
    if (!this.#channel) return;
    this.#channel.onmessage = ({ data }) => {
      if (data && typeof data.id === "string" && (data.kind === "stored" || data.kind === "removed")) hear(data);
    };
  }

  /** @param {News["kind"]} kind @param {string} id @param {number} [revision] */
  tell(kind, id, revision = 0) {
    this.#channel?.postMessage({ kind, id, revision });
  }
}

// Private

function channelOrNone() {
  try {
    return new BroadcastChannel("firstword.conversations");
  } catch {
    return null;
  }
}
