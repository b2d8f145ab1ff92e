/**
 * What sequences hold of the KV memory in two ways of giving it: room for the longest possible answer
 * in one piece, reserved from the beginning; or block by block, as tokens come. Pure.
 *
 * @typedef {{ used: number, most: number }} Held tokens now, and tokens at the longest possible end
 * @typedef {{ blocks: number, waste: number }} Share `waste`: part of the held room that is empty, 0 to 1
 */

/** @param {number} tokens @param {number} block tokens in one @returns {number} */
export const blocksFor = (tokens, block) => Math.ceil(tokens / block);

/** @param {Held[]} sequences @param {number} block @returns {{ reserved: Share, paged: Share }} */
export function memoryOf(sequences, block) {
  const used = sequences.reduce((sum, sequence) => sum + sequence.used, 0);
  const share = (/** @type {(sequence: Held) => number} */ tokens) => {
    const blocks = sequences.reduce((sum, sequence) => sum + blocksFor(tokens(sequence), block), 0);
    return { blocks, waste: blocks ? 1 - used / (blocks * block) : 0 };
  };
  return { reserved: share((sequence) => sequence.most), paged: share((sequence) => sequence.used) };
}

/** The waste over a whole run: the mean of all looks, and whether a look shows as many sequences as any. */
export class HeldOverTime {
  #looks = 0;
  #most = 0;
  #reserved = 0;
  #paged = 0;

  /** @param {Held[]} sequences @param {number} block @returns {boolean} whether none before held more sequences */
  look(sequences, block) {
    const { reserved, paged } = memoryOf(sequences, block);
    this.#looks += 1;
    this.#reserved += reserved.waste;
    this.#paged += paged.waste;
    this.#most = Math.max(this.#most, sequences.length);
    return sequences.length === this.#most;
  }

  /** Mean part of the reserved room that stood empty, 0 to 1. */
  get reserved() {
    return this.#looks ? this.#reserved / this.#looks : 0;
  }

  get paged() {
    return this.#looks ? this.#paged / this.#looks : 0;
  }
}
