import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { costOfStreaming, metricsOf, percentile, wordsReadable } from "../../static/js/measure/metrics.js";

/** @type {{ cases: { name: string, arrivals: any[], parameters: any, expected: any }[], reading: any[] }} */
const golden = JSON.parse(readFileSync(new URL("../golden/metrics.json", import.meta.url), "utf8"));

/** @param {any} got @param {any} wanted @param {string} where */
function assertClose(got, wanted, where) {
  if (wanted === null) return assert.equal(got, null, where);
  if (typeof wanted === "object") {
    for (const name in wanted) assertClose(got[name], wanted[name], `${where}.${name}`);
    return;
  }
  assert.ok(typeof got === "number" && Math.abs(got - wanted) <= 1e-5 * Math.max(1, Math.abs(wanted)), `${where}: ${got}, not ${wanted}`);
}

test("the golden file has the six timelines of the table and odd ones besides", () => assert.ok(golden.cases.length >= 16));

for (const { name, arrivals, parameters, expected } of golden.cases) {
  test(`the page computes what the server computes: ${name}`, () => assertClose(metricsOf(arrivals, parameters), expected, name));
}

for (const { name, arrivals, now_ms, words_per_minute, expected } of golden.reading) {
  test(`a reader has read so many words: ${name}`, () => assert.equal(wordsReadable(arrivals, now_ms, words_per_minute), expected));
}

test("a percentile lies between its neighbours, and none of nothing", () => {
  assert.equal(percentile([], 0.5), null);
  assert.equal(percentile([3], 0.95), 3);
  assert.equal(percentile([4, 1, 3, 2], 0.5), 2.5);
});

test("streaming costs the ratio of the two last words", () => {
  assert.equal(costOfStreaming(4400, 4000), 1.1);
  assert.equal(costOfStreaming(null, 4000), null);
  assert.equal(costOfStreaming(4400, 0), null);
});
