import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../static/js/", import.meta.url);
const FILES = readdirSync(ROOT, { recursive: true }).map(String).filter((name) => name.endsWith(".js"));

/** What no module may do, and why. @type {[RegExp, string][]} */
const FORBIDDEN = [
  [/\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\b/, "markup and code are never made from strings"],
  [/\(\?<[=!]/, "look-behind breaks whole modules in older Safari"],
  [/crypto\.randomUUID\(/, "a classroom's plain http has no secure context"],
  [/\} ?(?:ms|s|min|kB|MB)`/, "a unit is a word, and every word comes from the tables"],
  [/https?:\/\/(?!www\.w3\.org)[a-z]/, "nothing is fetched from elsewhere"],
];

for (const name of FILES) {
  const source = readFileSync(new URL(name, ROOT), "utf8");
  test(`${name} keeps the rules of the house`, () => {
    for (const [rule, why] of FORBIDDEN) assert.doesNotMatch(source, rule, why);
    assert.match(source, /^\/\*\*/, "a module opens by saying what it does");
    assert.ok(source.split("\n").length <= 225, "a file is one subject");
  });
}

/** Folders from the ground up; a module imports from its own folder and from those below. */
const FLOORS = ["words", "words.js", "events.js", "remembered.js", "stream", "measure", "answer", "chat", "race", "rooms", "learn", "lab", "components", "pages"];

for (const name of FILES) {
  test(`${name} imports downwards only`, () => {
    const own = FLOORS.indexOf(name.split("/")[0] ?? "");
    const source = readFileSync(new URL(name, ROOT), "utf8");
    for (const [, path] of source.matchAll(/^import .* from "\.\.\/([^/"]+)/gm)) {
      const other = FLOORS.indexOf(path ?? "");
      assert.ok(other <= own, `${name} imports ${path}`);
    }
  });
}
