import assert from "node:assert/strict";
import { test } from "node:test";
import { gapsBetween, median, numbersOf } from "../../static/js/measure/numbers.js";
import { spellClock, spellRate, spellRoughly, spellTime } from "../../static/js/measure/spelling.js";
import { stripShape, tickHeight } from "../../static/js/measure/strip_shape.js";
import { countWords, readingTime_ms, wordsReadIn } from "../../static/js/measure/words_read.js";
import { speak } from "../../static/js/words.js";

await speak(["common"]);

/** @param {number} at_ms @param {number} [words] */
const arrival = (at_ms, words = 1) => ({ at_ms, words, tokens: 1 });

test("n arrivals have n - 1 gaps, and one has none", () => {
  assert.deepEqual(gapsBetween([arrival(10), arrival(30), arrival(35)]), [20, 5]);
  assert.deepEqual(gapsBetween([arrival(10)]), []);
});

test("the median is the middle one or the mean of the two middle ones", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  assert.equal(median([]), null);
});

test("the numbers of a streamed reply are exact", () => {
  const arrivals = [arrival(100), arrival(150), arrival(170)];
  assert.deepEqual(numbersOf({ arrivals, firstPaint_ms: 110, lastPaint_ms: 180, tokens: 3, decode_ms: 100 }), {
    first_ms: 110, gapMedian_ms: 35, gapLongest_ms: 50, last_ms: 180, tokens: 3, tokensPerSecond: 20,
  });
});

test("a number that does not exist is a dash, not a zero", () => {
  const numbers = numbersOf({ arrivals: [arrival(5)], firstPaint_ms: 6, lastPaint_ms: 6, tokens: 1, decode_ms: 0 });
  assert.deepEqual([numbers.gapMedian_ms, numbers.gapLongest_ms, numbers.tokensPerSecond], [null, null, null]);
  assert.equal(spellRate(null), "–");
  assert.equal(spellTime(null), "–");
});

test("times are spelled for people", () => {
  assert.deepEqual([0.4, 84.2, 999.4, 999.6, 1824, 9994, 9996, 12_400].map(spellTime),
    ["0 ms", "84 ms", "999 ms", "1.00 s", "1.82 s", "9.99 s", "10.0 s", "12.4 s"]);
  assert.equal(spellClock(1849), "1.8 s");
  assert.deepEqual([9_000, 99_000, 130_000].map(spellRoughly), ["9 s", "99 s", "2 min"]);
  assert.deepEqual([2.345, 23.45].map(spellRate), ["2.3/s", "23/s"]);
});

test("words are counted in scripts with and without spaces", () => {
  assert.equal(countWords(" The sky, it is blue. - "), 5);
  assert.equal(countWords("आकाश नीला है"), 3);
  assert.equal(countWords("空は青い"), 2);
  assert.equal(countWords("\n"), 0);
});

test("reading goes at 238 words a minute, both ways", () => {
  assert.equal(wordsReadIn(60_000), 238);
  assert.equal(readingTime_ms(238), 60_000);
  assert.equal(wordsReadIn(-1), 0);
});

test("the strip has a tick for every arrival, inside its frame and in order", () => {
  const arrivals = [arrival(100), arrival(400, 3), arrival(900)];
  const shape = stripShape({ arrivals, now_ms: 1000, ended: true }, { width: 506, height: 60, axis_ms: 1000 });
  assert.deepEqual([...shape.ticks.matchAll(/M([\d.]+) /g)].map((match) => Number(match[1])), [51, 201, 451]);
  assert.equal(shape.wait, 50);
  assert.equal(shape.end, 500);
});

test("a live strip has no end cap, and without text it is all waiting", () => {
  const shape = stripShape({ arrivals: [], now_ms: 2000, ended: false }, { width: 306, height: 60 });
  assert.equal(shape.end, null);
  assert.equal(shape.ticks, "");
  assert.equal(shape.reading, null);
  assert.ok(shape.wait > 280 && shape.wait <= 300);
});

test("the reading line begins at the first word and is cut where the axis ends", () => {
  const long = stripShape({ arrivals: [arrival(0, 100)], now_ms: 100, ended: true }, { width: 306, height: 60, axis_ms: 1000 });
  assert.deepEqual(long.reading, { from: 0, to: 306 });
  const short = stripShape({ arrivals: [arrival(0, 2)], now_ms: 100, ended: true }, { width: 306, height: 60, axis_ms: 1000 });
  assert.deepEqual(short.reading, { from: 0, to: 151.3 });
});

test("ticks grow with the words they bring and never out of the frame", () => {
  assert.ok(tickHeight(0) > 0);
  assert.ok(tickHeight(1) < tickHeight(3) && tickHeight(3) < tickHeight(40));
  assert.equal(tickHeight(10_000), 1);
});

test("labels keep their distance at any width and time", () => {
  for (const width of [200, 390, 1200]) {
    for (const now_ms of [50, 900, 4000, 70_000, 500_000]) {
      const { marks } = stripShape({ arrivals: [], now_ms, ended: false }, { width, height: 60 });
      const gaps = marks.slice(1).map((mark, i) => mark.x - (marks[i]?.x ?? 0));
      assert.ok(gaps.every((gap) => gap >= 58), `${width} px, ${now_ms} ms: ${gaps}`);
    }
  }
});

test("the hatching goes to the first paint, not to the first arrival, and reading begins there", () => {
  const reply = { arrivals: [arrival(260), arrival(500)], now_ms: 1000, ended: true };
  const room = { width: 1006, height: 60, axis_ms: 1000 };
  assert.equal(stripShape({ ...reply, firstPaint_ms: 390 }, room).wait, 390);
  assert.equal(stripShape({ ...reply, firstPaint_ms: 390 }, room).reading?.from, 390);
  assert.match(stripShape({ ...reply, firstPaint_ms: 390 }, room).ticks, /^M261 /);
  assert.equal(stripShape({ ...reply, firstPaint_ms: null }, room).wait, 260);
});

test("a drawing never has more ticks than a screen can show, and the tallest of a place is kept", () => {
  const arrivals = Array.from({ length: 20_000 }, (_, i) => arrival(i, i === 10_000 ? 40 : 1));
  const { ticks } = stripShape({ arrivals, now_ms: 20_000, ended: true }, { width: 306, height: 60 });
  const heights = [...ticks.matchAll(/V([\d.]+)/g)].map((match) => Number(match[1]));
  assert.ok(heights.length <= 2 * 306, `${heights.length}`);
  assert.equal(heights.filter((height) => height < Math.max(...heights)).length, 1);
});
