import assert from "node:assert/strict";
import { test } from "node:test";
import { httpAddress, socketAddress } from "../../static/js/stream/address.js";
import { waitBeforeTry } from "../../static/js/stream/backoff.js";
import { readFrame } from "../../static/js/stream/frames.js";
import { randomId } from "../../static/js/stream/identity.js";
import { LineParser } from "../../static/js/stream/ndjson_parser.js";
import { intoLines, languageOf } from "../../static/js/answer/code_block.js";
import { say, speak } from "../../static/js/words.js";

await speak(["common", "chat"]);
import { splits } from "./cases.js";

test("https pages speak wss, and a query or fragment is not sent", () => {
  assert.equal(socketAddress("http://10.0.0.5:8000/?a#b"), "ws://10.0.0.5:8000/ws");
  assert.equal(socketAddress("https://class.example/x"), "wss://class.example/ws");
  assert.equal(httpAddress("https://class.example/x", "readyz"), "https://class.example/readyz");
});

test("waits grow, stay bounded and are spread", () => {
  const longest = [0, 1, 2, 3, 10, 1000].map((failures) => waitBeforeTry(failures, () => 0.999999));
  assert.deepEqual(longest, [250, 500, 1000, 2000, 8000, 8000]);
  assert.deepEqual([0, 5].map((failures) => waitBeforeTry(failures, () => 0)), [125, 4000]);
});

test("broken and unknown frames are passed over", () => {
  for (const data of ["", "{", "null", "[]", '"x"', "5", '{"type":"news"}', '{"type":"delta","reply":"r","seq":"1"}',
    '{"type":"constructor"}', new ArrayBuffer(2)]) assert.equal(readFrame(data), null);
  assert.deepEqual(readFrame('{"type":"ping","t":1}'), { type: "ping", t: 1 });
});

for (const [how, pieces] of splits('{"a":1}\r\n\n{"b":"नमस्ते"}\n{"c":3}')) {
  test(`lines are whole whatever the chunks, ${how}`, () => {
    const parser = new LineParser();
    const lines = pieces.flatMap((piece) => parser.push(piece));
    assert.deepEqual([...lines, ...parser.end()], ['{"a":1}', '{"b":"नमस्ते"}', '{"c":3}']);
  });
}

test("a line without end is refused instead of kept for ever", () => {
  const parser = new LineParser();
  assert.throws(() => {
    for (let i = 0; i < 20; i += 1) parser.push("x".repeat(100_000));
  }, /too long/);
});

test("ids are random, and as long as 128 bits", () => {
  const ids = new Set(Array.from({ length: 100 }, randomId));
  assert.equal(ids.size, 100);
  for (const id of ids) assert.match(id, /^[0-9a-f]{32}$/);
});

test("coloured pieces are cut at newlines and lose nothing", () => {
  const pieces = [{ text: "a = '''x\ny'''\n", type: "str" }, { text: "b", type: "" }];
  const lines = intoLines(pieces);
  assert.deepEqual(lines.map((line) => line.map((piece) => piece.text).join("")), ["a = '''x\n", "y'''\n", "b"]);
});

test("languages are known by their usual names, and unknown ones stay plain", () => {
  assert.deepEqual(["Python", "ts", "sh", "brainfuzz", ""].map(languageOf), ["py", "ts", "bash", null, null]);
});

test("texts take values and count in the plural", () => {
  assert.equal(say("couldHaveRead", { count: 1 }), "you could have read 1 word by now");
  assert.equal(say("couldHaveRead", { count: 7 }), "you could have read 7 words by now");
  assert.throws(() => say("nobody wrote this"), /no word/);
});
