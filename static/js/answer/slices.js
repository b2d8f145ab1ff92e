/**
 * Work on the page in slices: so much in one task, the rest in further ones, so that a key press or a
 * frame never waits for long behind a reply of 200 KB or a conversation of 300 messages. It refuses to
 * know what the work is.
 */

/** Most of a frame: what the browser then makes of it takes about as long again. */
const SLICE_MS = 12;
/** So much text is drawn in some hundredths of a second, and it is more than a screen shows. */
export const SLICE_CHARS = 8000;

export class Slice {
  #begun_ms = performance.now();

  /** @returns {boolean} whether this task has worked long enough */
  get isOver() {
    return performance.now() - this.#begun_ms >= SLICE_MS;
  }

  /** Let the browser have its turn: resolves in a later task, with a slice that is new. */
  async next() {
    await new Promise((go) => setTimeout(go));
    this.#begun_ms = performance.now();
  }
}

/** Small jobs of one kind, in order, as many in a task as fit into a slice. */
export class Jobs {
  /** @type {(() => unknown)[]} */
  #waiting = [];
  #isWorking = false;

  /** @param {() => unknown} job begun at once, where none is waiting; it must not raise */
  add(job) {
    this.#waiting.push(job);
    if (!this.#isWorking) void this.#work();
  }

  // Private

  async #work() {
    this.#isWorking = true;
    const slice = new Slice();
    for (let job = this.#waiting.shift(); job; job = this.#waiting.shift()) {
      await job();
      if (slice.isOver) await slice.next();
    }
    this.#isWorking = false;
  }
}

/** At most so much of a text, no character cut in two. @param {string} text @param {number} most */
export function sliceOf(text, most) {
  if (text.length <= most) return text;
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most + 1 : most;
  return text.slice(0, end);
}
