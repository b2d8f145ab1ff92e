import assert from "node:assert/strict";
import { test } from "node:test";
import { Lexer, Marked } from "marked";
import { mathExtension } from "../../static/js/answer/math.js";
import { mend } from "../../static/js/answer/mend.js";
import { safeLink, treeOf } from "../../static/js/answer/tree.js";

const marked = new Marked({ gfm: true }, mathExtension());
/** @param {string} text @returns {any[]} */
const tree = (text) => treeOf(new Lexer(marked.defaults).lex(text));

/** @param {any} node @returns {any[]} every element below */
const elements = (node) => (typeof node === "string" ? [] : [node, ...node.children.flatMap(elements)]);

const ATTACKS = [
  "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](java\tscript:alert(1))", "[x](data:text/html,hi)",
  "[x](vbscript:x)", "[x](//evil.example)", "[x](/relative)", "![x](http://evil.example/?q)", "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>", "<iframe srcdoc='<script>alert(1)</script>'>", "<a href='javascript:alert(1)'>x</a>",
  "[x]: javascript:alert(1)\n\n[x]", "<javascript:alert(1)>", "[x](&#106;avascript:alert(1))", "[x](\u0001javascript:alert(1))",
  "`<script>`", "```html\n<script>alert(1)</script>\n```", "<style>*{display:none}</style>", "[x](file:///etc/passwd)",
];

const TAGS = new Set(["p", "a", "code", "pre", "strong", "em", "del", "br", "hr", "ul", "ol", "li", "input", "blockquote",
  "table", "thead", "tbody", "tr", "th", "td", "div", "span", "h3", "h4", "h5", "h6"]);
const ATTRIBUTES = new Set(["href", "rel", "target", "dir", "class", "start", "type", "disabled", "checked", "tabindex",
  "data-math", "data-display", "data-code"]);

for (const attack of ATTACKS) {
  test(`only allowed elements, attributes and addresses come out of ${attack}`, () => {
    for (const element of tree(attack).flatMap(elements)) {
      assert.ok(TAGS.has(element.tag), element.tag);
      for (const [name, value] of Object.entries(element.attributes)) {
        assert.ok(ATTRIBUTES.has(name), name);
        if (name === "href") assert.match(String(value), /^(https?:\/\/|mailto:)/);
      }
    }
  });
}

test("links keep http, https and mailto, and nothing else", () => {
  for (const good of ["http://a.b", "https://a.b/c?d", "mailto:a@b.c"]) assert.equal(safeLink(good), good);
  for (const bad of ["javascript:1", " javascript:1", "j\navascript:1", "ftp://a", "//a", "", "http:/a"]) assert.equal(safeLink(bad), null);
});

/** @param {string} text */
const formulas = (text) => tree(text).flatMap(elements).filter((e) => e.attributes["data-math"] !== undefined)
  .map((e) => e.attributes["data-math"]);

test("prices are no formulas, formulas are", () => {
  assert.deepEqual(formulas("It costs $5 and $10, or $7."), []);
  assert.deepEqual(formulas("Take $x^2$ and \\(y_1\\)."), ["x^2", "y_1"]);
  assert.deepEqual(formulas("$x$ alone"), ["x"]);
  assert.deepEqual(formulas("$$\na + b\n$$\n"), ["a + b"]);
  assert.deepEqual(formulas("`$x^2$`"), []);
});

test("headings of an answer stand below those of the page", () => {
  assert.deepEqual(tree("# a\n\n###### b").map((node) => node.tag), ["h3", "h6"]);
});

test("a table keeps its alignment and can be scrolled with the keyboard", () => {
  const [wrapper] = tree("|a|b|\n|:-:|--:|\n|1|2|");
  assert.equal(wrapper.attributes.tabindex, "0");
  assert.deepEqual(elements(wrapper).filter((e) => e.tag === "td").map((e) => e.attributes.class), ["align-center", "align-right"]);
});

test("deep nesting becomes text instead of a broken stack", () => {
  assert.ok(elements({ tag: "root", attributes: {}, children: tree(">".repeat(200) + " deep") }).length < 100);
});

/** @type {[string, string][]} */
const MENDED = [
  ["some **bo", "some **bo**"], ["some **", "some "], ["some **bold*", "some **bold**"], ["a *b", "a *b*"],
  ["a `co", "a `co`"], ["a ~~b", "a ~~b~~"], ["2 * 3", "2 * 3"], ["my_var", "my_var"], ["**a *b", "**a *b***"],
  ["[text](http://ex", "[text]()"], ["[text", "[text"], ["- item\n-", "- item\n"], ["1. a\n2.", "1. a\n2"],
  ["Title\n--", "Title\n"], ["a\n\n```py", "a\n\n"], ["**bold ", "**bold** "], ["done **a** and", "done **a** and"],
  ["$$x_1 + y_", "$$x_1 + y$$"], ["- a **b\n- c", "- a **b\n- c"], ["\\(x", "\\(x\\)"],
];
for (const [tail, expected] of MENDED) {
  test(`the open tail ${JSON.stringify(tail)} is read as ${JSON.stringify(expected)}`, () => {
    assert.equal(mend(tail).text, expected);
  });
}

test("an open formula is shown as its source", () => {
  const { text, openMath } = mend("see $$\\frac{1");
  const nodes = treeOf(new Lexer(marked.defaults).lex(text), openMath);
  assert.deepEqual(nodes.flatMap(elements).filter((e) => e.tag === "span").map((e) => e.attributes), [{ class: "math open" }]);
});
