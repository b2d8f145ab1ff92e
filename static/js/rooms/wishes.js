/**
 * What this phone wants to have counted: kept until the server's state says that it is, and said again
 * after every reconnection, so that a blip loses no vote. A ballot that has closed drops its wish, and so
 * does a refusal. Pure but for the `say` it is handed.
 *
 * @typedef {import("./room_frames.js").Room} Room
 * @typedef {import("./room_frames.js").Me} Me
 * @typedef {"predict" | "vote" | "revote"} Ballot
 */

export class Wishes {
  /** @type {{ round: number, ballot: Ballot, choice: string } | null} */
  #vote = null;
  /** The last one that was said, and whether it went out when it was pressed. @type {{ round: number, ballot: Ballot, choice: string, isOut: boolean } | null} */
  #said = null;

  /** @param {(command: object) => boolean} say whether somebody was listening */
  constructor(say) {
    this.say = say;
  }

  /** @param {number} round @param {Ballot} ballot @param {string} choice */
  vote(round, ballot, choice) {
    this.#vote = { round, ballot, choice };
    this.#said = { ...this.#vote, isOut: this.say({ type: "vote", ...this.#vote }) };
  }

  /** @param {Room} room @param {Me} me @returns {string | null} a choice that is not counted yet */
  pending(room, me) {
    const wish = this.#vote;
    if (!wish) return null;
    const isOpen = room.round?.id === wish.round && room.round.ballot === wish.ballot;
    if (!isOpen || me.card?.[wish.ballot] === wish.choice) this.#vote = null;
    return this.#vote?.choice ?? null;
  }

  /**
   * The server has refused it: it is not said again.
   * @param {Room | null} room @param {Me | null} me @returns {boolean} whether it is certain that the press does not
   *   count: the first time it was said it may have been counted, and only the answer lost
   */
  refused(room, me) {
    this.#vote = null;
    if (!this.#said) return false;
    const { round, ballot, choice, isOut } = this.#said;
    return room?.round?.id === round ? me?.card?.[ballot] !== choice : !isOut;
  }

  /** The line is open again. */
  repeat() {
    if (this.#vote) this.say({ type: "vote", ...this.#vote });
  }
}
