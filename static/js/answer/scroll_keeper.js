/**
 * Keeps a reader who is at the end at the end, and leaves everybody else alone. Each scroll that we
 * make is remembered by its position; every other scroll is the reader's and decides whether we follow.
 *
 * The end of a reply does not scroll: its numbers come below, and the last lines are still being read
 * (unless all of it still fits). Nor does a piece that is larger than half of the screen: it is read from
 * its beginning.
 */

/** Rounding of fractional positions, not a reader's wish. */
const DRIFT_PX = 3;
/** So near to the end counts as the end. */
const END_PX = 24;
/** Below the last line there is so much margin: no line is hidden before it is scrolled away. */
const MARGIN_PX = 64;
/** Share of the screen that may come in one piece and still be followed. */
const AT_ONCE = 0.5;

export class ScrollKeeper {
  #following = false;
  /** Lines have come that the reader has not been at. */
  #news = false;
  #ours = -1;
  /** The newest message as it was last seen. @type {{ element: Element | null, height: number }} */
  #seen = { element: null, height: 0 };
  /** What the growing is about; "end": the last of a reply, still to be seen. @type {"opening" | "reply" | "end" | "after"} */
  #phase = "opening";
  #scroller;
  #messages;
  #tell;

  /**
   * @param {HTMLElement} scroller
   * @param {Element} content the element in it that grows
   * @param {Element} messages the newest of them last
   * @param {(below: boolean) => void} tell whether there are new lines below
   */
  constructor(scroller, content, messages, tell) {
    this.#scroller = scroller;
    this.#messages = messages;
    this.#tell = tell;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    const observer = new ResizeObserver(() => this.#grown());
    observer.observe(content);
    observer.observe(scroller);
  }

  /** Another conversation is on the page: go to its end, and stay there while it is being drawn. */
  open() {
    this.#phase = "opening";
    this.follow();
  }

  /** Go to the end and follow from now on: the reader sent a message or asked for it. */
  follow() {
    this.#follow(true);
    this.#toEnd();
    this.#cameAtOnce();
    this.#report();
  }

  /** A reply has begun to come, or the last one is over. @param {boolean} live */
  reply(live) {
    if (live) this.#phase = "reply";
    else if (this.#phase === "reply") this.#phase = "end";
  }

  // Private

  #scrolled() {
    if (Math.abs(this.#scroller.scrollTop - this.#ours) <= DRIFT_PX) return;
    this.#ours = -1;
    this.#follow(this.#distance() <= END_PX);
    this.#report();
  }

  #grown() {
    const text = this.#phase === "reply" || this.#phase === "end";
    if (this.#cameAtOnce() && text) this.#follow(false);
    if (!this.#following && text) this.#news = true;
    const moves = this.#phase === "opening" || this.#phase === "reply" || this.#seen.height <= this.#scroller.clientHeight;
    if (this.#following && moves) this.#toEnd();
    if (this.#phase === "end") this.#phase = "after";
    this.#report();
  }

  /** @returns {boolean} whether the newest message has grown by more than a glance takes in */
  #cameAtOnce() {
    const element = this.#messages.lastElementChild;
    const before = this.#seen;
    this.#seen = { element, height: element?.clientHeight ?? 0 };
    return element === before.element && this.#seen.height - before.height > this.#scroller.clientHeight * AT_ONCE;
  }

  /** The browser may hold a reader's place when something above grows late; a follower's place is the end.
   * @param {boolean} following */
  #follow(following) {
    this.#following = following;
    if (following) this.#news = false;
    this.#scroller.style.overflowAnchor = following ? "none" : "";
  }

  #toEnd() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#ours = this.#scroller.scrollTop;
  }

  #report() {
    this.#tell(this.#news && this.#distance() > MARGIN_PX);
  }

  #distance() {
    return this.#scroller.scrollHeight - this.#scroller.clientHeight - this.#scroller.scrollTop;
  }
}
