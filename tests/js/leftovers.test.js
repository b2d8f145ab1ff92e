/** What nobody uses is taken out: words that no page says, parts of templates that nothing looks for. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../", import.meta.url);

/** @param {string} folder @param {string} ending @returns {string[]} its files' texts */
function textsOf(folder, ending) {
  const under = new URL(folder, ROOT);
  return readdirSync(under, { recursive: true }).map(String).filter((name) => name.endsWith(ending) && !name.startsWith("words/"))
    .map((name) => readFileSync(new URL(name, under), "utf8"));
}

const TEMPLATES = textsOf("templates/", ".html");
const SCRIPTS = [...textsOf("static/js/", ".js"), ...textsOf("static/css/", ".css")];
const SOURCES = [...TEMPLATES, ...SCRIPTS];

/** Every name that stands somewhere, and those that stand alone between quotes. */
const NAMES = new Set(SOURCES.flatMap((text) => text.match(/[\w-]+(?:\.[\w-]+)?/g) ?? []));
const QUOTED = new Set(SOURCES.flatMap((text) => Array.from(text.matchAll(/"([\w-]+)"/g), ([, name]) => name ?? "")));
const GAP = /\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\{\{[^{}]*\}\}/g;
/** Names that are put together, such as `${name}Title`, as patterns; those of nothing but gaps say nothing. */
const MADE = SOURCES.flatMap((text) => text.match(/(?<=[`"'])(?:[\w.-]|\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\{\{[^{}]*\}\})+(?=[`"'])/g) ?? [])
  .filter((name) => /[{]/.test(name) && /[\w.]/.test(name.replace(GAP, "")))
  .map((name) => new RegExp(`^${name.replace(GAP, "\u0000").replaceAll(".", "\\.").replaceAll("\u0000", "[\\w.-]+")}$`));

/** @param {string} name */
const isMade = (name) => MADE.some((pattern) => pattern.test(name));

/** Of two names, the second with a capital: `${wire}${fact}`. @param {string} name */
const isOfTwo = (name) => Array.from(name.matchAll(/(?=[A-Z])/g)).some(({ index }) => NAMES.has(name.slice(0, index)) && QUOTED.has(name.slice(index)));

for (const table of readdirSync(new URL("static/js/words/en/", ROOT))) {
  test(`every word of ${table} is said`, async () => {
    const { default: words } = await import(new URL(`static/js/words/en/${table}`, ROOT).href);
    assert.deepEqual(Object.keys(words).filter((word) => !NAMES.has(word) && !isMade(word) && !isOfTwo(word)), []);
  });
}

test("every part of a template is looked for", () => {
  const parts = TEMPLATES.flatMap((text) => Array.from(text.matchAll(/data-part="([\w-]+)"/g), ([, name]) => name ?? ""));
  const looked = SCRIPTS.join("\n");
  assert.ok(parts.length > 100);
  assert.deepEqual(parts.filter((name) => !new RegExp(`["'=]${name}["'\\]]`).test(looked) && !isMade(name)), []);
});
