import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { readRecording } from "../../static/js/race/recording_file.js";
import { BadFile } from "../../static/js/race/recording_rules.js";
import { speak } from "../../static/js/words.js";

await speak(["common", "race", "race_numbers"], "en");

/** Python reads the same: tests/replay/test_golden_recordings.py. */
const golden = JSON.parse(readFileSync(new URL("../replay/golden_recordings.json", import.meta.url), "utf8"));

for (const found of golden.cases) {
  test(`a recording ${found.name} is ${found.good ? "read" : "refused by its field"}`, () => {
    const text = fileOf(found);
    if (found.good) assert.ok(readRecording(text).lanes.length >= 2);
    else assert.throws(() => readRecording(text), (error) => error instanceof BadFile && error.message.includes(found.field), found.field);
  });
}

for (const { name, text } of golden.raw) {
  test(`${name} is no recording`, () => assert.throws(() => readRecording(text), BadFile));
}

test("a file is read up to its limit in bytes, whatever its signs take", () => {
  const padding = (/** @type {number} */ size) => JSON.stringify({ ...golden.base, mood: "é".repeat(size) });
  assert.ok(readRecording(padding(2_000_000)));
  assert.throws(() => readRecording(padding(2_100_000)), /larger than 4 MB/);
});

// Private

/** @param {any} found @returns {string} */
function fileOf({ set = {}, remove = [], nest = {}, prefix = "" }) {
  const content = structuredClone(golden.base);
  for (const [path, value] of Object.entries(set)) {
    const [place, last] = placeOf(content, path);
    place[last] = value;
  }
  for (const path of remove) {
    const [place, last] = placeOf(content, path);
    if (Array.isArray(place)) place.splice(Number(last), 1);
    else delete place[last];
  }
  let text = JSON.stringify(content);
  for (const [name, depth] of Object.entries(nest)) text = `${text.slice(0, -1)},"${name}":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  return prefix + text;
}

/** @param {any} content @param {string} path @returns {[any, string]} */
function placeOf(content, path) {
  const way = path.split(".");
  const last = way.pop() ?? "";
  return [way.reduce((place, name) => place[name], content), last];
}
