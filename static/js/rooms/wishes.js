/**
 * What this phone wants to have counted: kept until the server's state says that it is, and said again
 * after every reconnection, so that a blip loses no vote. A ballot that has closed drops its wish. Pure
 * but for the `say` it is handed.
 *
 * @typedef {import("./room_frames.js").Room} Room
 * @typedef {import("./room_frames.js").Me} Me
 * @typedef {"predict" | "vote" | "revote"} Ballot
 */

export class Wishes {
  /** @type {{ round: number, ballot: Ballot, choice: string } | null} */
  #vote = null;

  /** @param {(command: object) => boolean} say whether somebody was listening */
  constructor(say) {
    this.say = say;
  }

  /** @param {number} round @param {Ballot} ballot @param {string} choice */
  vote(round, ballot, choice) {
    this.#vote = { round, ballot, choice };
    this.say({ type: "vote", ...this.#vote });
  }

  /** @param {Room} room @param {Me} me @returns {string | null} a choice that is not counted yet */
  pending(room, me) {
    const wish = this.#vote;
    if (!wish) return null;
    const isOpen = room.round?.id === wish.round && room.round.ballot === wish.ballot;
    if (!isOpen || me.card?.[wish.ballot] === wish.choice) this.#vote = null;
    return this.#vote?.choice ?? null;
  }

  /** The line is open again. */
  repeat() {
    if (this.#vote) this.say({ type: "vote", ...this.#vote });
  }
}
