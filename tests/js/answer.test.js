import assert from "node:assert/strict";
import { test } from "node:test";
import * as marked from "marked";
import { Answer } from "../../static/js/answer/answer.js";
import { FakeElement, FakeText, fakeDocument } from "./document.js";
import { SAMPLES, splits } from "./cases.js";

// The code block asks the page which libraries there are, and tells text nodes from elements.
Object.assign(globalThis, { document: fakeDocument, Text: FakeText, Element: FakeElement });

/** @param {typeof marked | null} [library] */
function newAnswer(library = marked) {
  const root = new FakeElement("div");
  const parts = () => {
    const frame = new FakeElement("figure");
    const pre = new FakeElement("pre");
    const label = new FakeElement("figcaption");
    frame.append(label, pre);
    return { frame, pre, label };
  };
  const answer = new Answer(/** @type {any} */ (root), library, /** @type {any} */ (parts), (name) => name || "·");
  return { root, answer };
}

/** @param {string[]} pieces @param {typeof marked | null} [library] */
function rendered(pieces, library) {
  const { root, answer } = newAnswer(library);
  for (const piece of pieces) answer.append(piece);
  answer.finish();
  return root.markup;
}

/** Letters and digits only: markup signs come and go, words never. @param {string} text */
const letters = (text) => (text.match(/[\p{L}\p{N}]/gu) ?? []).join("");

/** @param {string} part @param {string} whole whether all signs of the part come in the whole, in this order */
function isInOrder(part, whole) {
  let at = 0;
  for (const sign of part) {
    at = whole.indexOf(sign, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

for (const sample of SAMPLES) {
  const name = JSON.stringify(sample.slice(0, 30));
  for (const [how, pieces] of splits(sample)) {
    test(`a streamed answer looks like one that came whole, ${how}: ${name}`, () => {
      assert.equal(rendered(pieces), rendered([sample]));
    });
  }
  test(`without marked the text is shown as it is: ${name}`, () => {
    const { root, answer } = newAnswer(null);
    for (const sign of sample) answer.append(sign);
    assert.equal(root.textContent, sample);
  });
  test(`words are shown in order and at most a few are held back: ${name}`, () => {
    const { root, answer } = newAnswer();
    let before = "";
    for (const sign of sample.replace(/\]\(https[^)]*\)*/g, "]")) {
      answer.append(sign);
      before += sign;
      const shown = letters(root.textContent);
      const sent = letters(before);
      assert.ok(isInOrder(shown, sent), `${shown} is not in ${sent}`);
      // A language name is not known before its line is complete, and numbers of a list are no text.
      assert.ok(sent.length - shown.length <= 12, `${shown} after ${JSON.stringify(before)}`);
    }
  });
}

test("finished blocks are never touched again", () => {
  const { root, answer } = newAnswer();
  answer.append("First **paragraph**.\n\nSecond");
  const first = root.children[0];
  const inner = first?.childNodes[0]?.childNodes[1];
  for (const piece of [" grows", " and `grows`", ".\n\n```js\nlet a;\n```\n", "end"]) answer.append(piece);
  answer.finish();
  assert.equal(root.children[0], first);
  assert.equal(root.children[0]?.childNodes[0]?.childNodes[1], inner);
});

test("a growing paragraph grows in one text node", () => {
  const { root, answer } = newAnswer();
  answer.append("Hello");
  const text = root.children[0]?.childNodes[0]?.childNodes[0];
  for (const word of [" there,", " this", " is", " one", " paragraph."]) answer.append(word);
  assert.equal(root.children[0]?.childNodes[0]?.childNodes[0], text);
  assert.equal(root.textContent, "Hello there, this is one paragraph.");
});

test("a forming fence is never shown as a paragraph with backticks", () => {
  const { root, answer } = newAnswer();
  for (const sign of "Text\n```swift\nlet a = `b`\n```\n") {
    answer.append(sign);
    for (const block of root.children) {
      if (block.getAttribute("class") === "block prose") assert.ok(!block.textContent.includes("`"), block.textContent);
    }
  }
});

test("bold does not flicker through italics while its closer arrives", () => {
  const { root, answer } = newAnswer();
  for (const sign of "some **bold** text") {
    answer.append(sign);
    assert.ok(!root.markup.includes("<em"), root.markup);
    assert.ok(!root.textContent.includes("*"), root.textContent);
  }
});

test("a thousand list items cost little more than linear work", () => {
  let lexed = 0;
  class CountingLexer extends marked.Lexer {
    /** @override @param {string} source */
    lex(source) {
      lexed += source.length;
      return super.lex(source);
    }
  }
  const { answer } = newAnswer(/** @type {any} */ ({ ...marked, Lexer: CountingLexer }));
  const text = "- an item of a list\n".repeat(5000);
  for (let i = 0; i < text.length; i += 20) answer.append(text.slice(i, i + 20));
  answer.finish();
  assert.ok(lexed < 25 * text.length, `${lexed} characters lexed for ${text.length}`);
});

test("random pieces of random markup give what the whole gives", () => {
  const parts = ["**", "*", "_", "`", "```\n", "\n", "\n\n", "- ", "1. ", "word ", "[a](", ")", "$$", "$", "# ", "> ", "|", "~~", "\\", "<b>"];
  let seed = 7;
  const random = (/** @type {number} */ n) => (seed = (seed * 16807) % 2147483647) % n;
  for (let round = 0; round < 300; round += 1) {
    const text = Array.from({ length: 12 }, () => parts[random(parts.length)]).join("");
    assert.equal(rendered(Array.from(text)), rendered([text]), JSON.stringify(text));
  }
});

test("the blocks of a very long answer lie in chunks, in order, and no text is lost", () => {
  const { root, answer } = newAnswer();
  const paragraphs = Array.from({ length: 130 }, (_, i) => `Paragraph ${i}.`);
  for (const text of paragraphs) answer.append(`${text}\n\n`);
  answer.finish();
  assert.deepEqual(root.children.map((/** @type {any} */ { className }) => className).slice(15), ["block prose", ...Array(8).fill("chunk")]);
  assert.equal(root.textContent, paragraphs.join(""));
});

test("much text at once is drawn in slices, in order, whatever comes meanwhile, and its end is read", async (t) => {
  // Each look at the clock is 5 ms later: how much a slice holds is not to depend on the machine.
  let now_ms = 0;
  t.mock.method(performance, "now", () => (now_ms += 5));
  const { root, answer } = newAnswer();
  const text = "Words, **bold** ones too, and 😀 signs.\n\n".repeat(2000);
  answer.restore(text);
  answer.append("The last **line");
  answer.finish();
  const first = root.textContent.length;
  assert.ok(0 < first && first < 30_000, `${first} characters in the first slice`);
  assert.equal(root.getAttribute("aria-busy"), "true");
  while (root.getAttribute("aria-busy")) await new Promise((go) => setTimeout(go));
  assert.equal(root.textContent, "Words, bold ones too, and 😀 signs.".repeat(2000) + "The last **line");
});
