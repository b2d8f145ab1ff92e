/**
 * The clock of first and last words: stamps the paint of what the stage has just written, as long as
 * the race is live and looked at as it comes. Whoever pauses, slows down or drags it stops the clock for
 * the lanes that go on, and these are marked: their words are then clocked at their arrival. The lanes
 * are changed in place, and nothing else is.
 *
 * @typedef {import("./lane.js").Lane} Lane
 */

export class PaintClock {
  /** Stamps that are still to come. */
  pending = 0;
  isOn = false;
  #clicked_ms = 0;

  /**
   * @param {(tell: (stamp_ms: number) => void) => void} afterPaint
   * @param {(lane: Lane, isFirst: boolean) => void} stamped
   */
  constructor(afterPaint, stamped) {
    this.afterPaint = afterPaint;
    this.stamped = stamped;
  }

  /** @param {number} clicked_ms on the clock of the stamps */
  begin(clicked_ms) {
    this.isOn = true;
    this.#clicked_ms = clicked_ms;
  }

  /** Text was written. @param {Lane} lane @param {number} arrivals that are shown now */
  written(lane, arrivals) {
    if (!this.isOn) return;
    this.pending += 1;
    this.afterPaint((stamp_ms) => {
      this.pending -= 1;
      const isFirst = lane.firstPaint_ms === null;
      lane.firstPaint_ms ??= stamp_ms - this.#clicked_ms;
      if (!lane.late && arrivals === lane.arrivals.length) lane.lastPaint_ms = stamp_ms - this.#clicked_ms;
      this.stamped(lane, isFirst);
    });
  }

  /** It is not looked at as it comes any more. @param {Lane[]} lanes */
  stop(lanes) {
    if (!this.isOn) return;
    this.isOn = false;
    for (const lane of lanes) {
      if (lane.ended_ms !== null) continue;
      lane.late = true;
      lane.lastPaint_ms = null;
    }
  }
}
