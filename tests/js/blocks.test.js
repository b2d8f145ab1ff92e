import assert from "node:assert/strict";
import { test } from "node:test";
import { BlockSplitter, readFence } from "../../static/js/answer/blocks.js";
import { SAMPLES, splits } from "./cases.js";

/** @param {string[]} pieces */
function blocksOf(pieces) {
  const splitter = new BlockSplitter();
  const blocks = pieces.flatMap((piece) => splitter.push(piece));
  return [...blocks, ...splitter.end()];
}

for (const sample of SAMPLES) {
  for (const [how, pieces] of splits(sample)) {
    test(`blocks join to the text again, ${how}: ${JSON.stringify(sample.slice(0, 30))}`, () => {
      assert.equal(blocksOf(pieces).map((block) => block.source).join(""), sample);
    });
    test(`chunk boundaries do not matter, ${how}: ${JSON.stringify(sample.slice(0, 30))}`, () => {
      assert.deepEqual(blocksOf(pieces), blocksOf([sample]));
    });
  }
}

/** @param {string} text @param {string[]} sources */
function becomes(text, sources) {
  for (const [how, pieces] of splits(text)) {
    test(`${JSON.stringify(text)} is cut into ${sources.length} blocks, ${how}`, () => {
      assert.deepEqual(blocksOf(pieces).map((block) => block.source), sources);
    });
  }
}

becomes("a\n\nb", ["a\n\n", "b"]);
becomes("a\nb", ["a\nb"]);
becomes("# t\nb", ["# t\n", "b"]);
becomes("- a\n\n- b\n\nc", ["- a\n\n- b\n\n", "c"]);
becomes("1. a\n\n   more\n\n2. b", ["1. a\n\n   more\n\n2. b"]);
becomes("a\n```\nx\n\ny\n```\nb", ["a\n", "```\nx\n\ny\n```\n", "b"]);
becomes("$$\nx\n\ny\n$$\nb", ["$$\nx\n\ny\n$$\n", "b"]);
becomes("- a\n  ```\n  x\n\n  y\n  ```\n- b", ["- a\n  ```\n  x\n\n  y\n  ```\n- b"]);
becomes("$$x$$\nnext", ["$$x$$\n", "next"]);

test("a block is finished as soon as the next one begins, not at its end", () => {
  const splitter = new BlockSplitter();
  assert.deepEqual(splitter.push("one\n\n"), []);
  assert.deepEqual(splitter.push("t").map((block) => block.source), ["one\n\n"]);
});

test("an open fence shows its code and holds back what may close it", () => {
  assert.deepEqual(readFence("```py", true), { language: "", code: "" });
  assert.deepEqual(readFence("```py\na = 1\n``", true), { language: "py", code: "a = 1\n" });
  assert.deepEqual(readFence("```py\na = 1\n  `x", true), { language: "py", code: "a = 1\n  `x" });
});

test("a closed fence and one that was never closed give the same code", () => {
  assert.deepEqual(readFence("```py\na\n```\n", false), { language: "py", code: "a\n" });
  assert.deepEqual(readFence("```py\na\n```", false), { language: "py", code: "a\n" });
  assert.deepEqual(readFence("```py\na", false), { language: "py", code: "a\n" });
  assert.deepEqual(readFence("```\n```", false), { language: "", code: "" });
});

test("code that is shown only grows, whatever prefix has arrived", () => {
  const source = "```py\nx = '`'\n\ny = 2\n```\n";
  let shown = "";
  for (let end = 1; end <= source.length; end += 1) {
    const { code } = readFence(source.slice(0, end), true);
    assert.ok(code.startsWith(shown) || code === "", `at ${end}: ${JSON.stringify(code)}`);
    shown = code;
    if (source.slice(0, end).endsWith("```") && end > 5) break;
  }
});
