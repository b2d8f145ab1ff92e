import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOf, clustersOf, spellBytes, textOf, visible } from "../../static/js/measure/token_bytes.js";

/** @param {number[]} bytes */
const token = (bytes) => ({ data: btoa(String.fromCharCode(...bytes)) });
const POT = [...new TextEncoder().encode("🫖")];

test("bytes are spelled, text is read, and a cut character is no text", () => {
  assert.equal(spellBytes(Uint8Array.from(POT)), "F0 9F AB 96");
  assert.equal(textOf(Uint8Array.from(POT)), "🫖");
  assert.equal(textOf(Uint8Array.from(POT.slice(0, 3))), null);
  assert.equal(visible(" a\n\tb"), "␣a↵⇥b");
  assert.deepEqual([...bytesOf("not base64!")], []);
});

test("tokens that make one sign only together stand together, however it is cut", () => {
  for (const cuts of [[4], [1, 3], [3, 1], [2, 2], [1, 1, 2], [1, 1, 1, 1]]) {
    let at = 0;
    const parts = cuts.map((size) => token(POT.slice(at, (at += size))));
    const tokens = [token([97]), ...parts, token([98])];
    assert.deepEqual(clustersOf(tokens), [
      { text: "a", from: 0, count: 1 }, { text: "🫖", from: 1, count: cuts.length }, { text: "b", from: 1 + cuts.length, count: 1 },
    ]);
  }
});

test("bytes that never become text stay single, and no token is lost", () => {
  const tokens = [[0xff], [97], [0xf0, 0x9f], [98], [0xc3]].map(token);
  const clusters = clustersOf(tokens);
  assert.deepEqual(clusters.map(({ from, count }) => [from, count]), [[0, 1], [1, 1], [2, 1], [3, 1], [4, 1]]);
  assert.deepEqual(clusters.map(({ text }) => text), [null, "a", null, "b", null]);
});
