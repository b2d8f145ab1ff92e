import assert from "node:assert/strict";
import { test } from "node:test";
import { spellAgo } from "../../static/js/chat/dates.js";

const NOON = new Date(2026, 4, 20, 12, 0, 0).getTime();
const [MINUTE, HOUR] = [60_000, 3_600_000];

for (const [ago_ms, said] of /** @type {[number, string][]} */ ([
  [0, "now"], [59_000, "now"], [MINUTE, "1 minute ago"], [59 * MINUTE, "59 minutes ago"], [HOUR, "1 hour ago"],
  [11 * HOUR, "11 hours ago"], [13 * HOUR, "yesterday"], [6 * 24 * HOUR, "6 days ago"], [-HOUR, "now"],
])) {
  test(`${ago_ms} ms ago is said as ${said}`, () => assert.equal(spellAgo(NOON - ago_ms, NOON, "en"), said));
}

test("what is a week old has its date", () => assert.match(spellAgo(NOON - 8 * 24 * HOUR, NOON, "en"), /May 12, 2026/));

test("other languages say it their own way", () => assert.equal(spellAgo(NOON - 24 * HOUR, NOON, "hi"), "कल"));
