/**
 * Keeps a reader who is at the end at the end, and leaves everybody else alone. Each scroll that we
 * make is remembered by its position; every other scroll is the reader's and decides whether we
 * follow. The end of a reply does not scroll by itself: only growth does, and only for a follower.
 */

/** Rounding of fractional positions, not a reader's wish. */
const DRIFT_PX = 3;
/** So near to the end counts as the end. */
const END_PX = 24;

export class ScrollKeeper {
  #following = false;
  #ours = -1;
  #scroller;
  #tell;

  /**
   * @param {HTMLElement} scroller
   * @param {Element} content the element in it that grows
   * @param {(state: { following: boolean, below: boolean }) => void} tell when to offer the way down
   */
  constructor(scroller, content, tell) {
    this.#scroller = scroller;
    this.#tell = tell;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    const observer = new ResizeObserver(() => this.#grown());
    observer.observe(content);
    observer.observe(scroller);
  }

  /** Go to the end and follow from now on: the reader sent a message or asked for it. */
  follow() {
    this.#following = true;
    this.#toEnd();
    this.#report();
  }

  // Private

  #scrolled() {
    if (Math.abs(this.#scroller.scrollTop - this.#ours) <= DRIFT_PX) return;
    this.#ours = -1;
    this.#following = this.#distance() <= END_PX;
    this.#report();
  }

  #grown() {
    if (this.#following) this.#toEnd();
    this.#report();
  }

  #toEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#ours = this.#scroller.scrollTop;
  }

  #report() {
    this.#tell({ following: this.#following, below: this.#distance() > END_PX });
  }

  #distance() {
    return this.#scroller.scrollHeight - this.#scroller.clientHeight - this.#scroller.scrollTop;
  }
}
