/**
 * The tables of words: every language says all that English says, with the same values filled in, in the
 * plural forms that it has, and in its own words.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { LANGUAGES, say, speak } from "../../static/js/words.js";

const ROOT = new URL("../../static/js/words/", import.meta.url);
const tablesOf = (/** @type {string} */ code) => readdirSync(new URL(`${code}/`, ROOT)).sort();
const load = async (/** @type {string} */ code, /** @type {string} */ file) =>
  /** @type {import("../../static/js/words.js").Table} */ ((await import(new URL(`${code}/${file}`, ROOT).href)).default);
const formsOf = (/** @type {import("../../static/js/words.js").Text} */ text) =>
  /** @type {Record<string, string>} */ (typeof text === "string" ? { other: text } : text);
const holesOf = (/** @type {string} */ text) => [...new Set(text.match(/\{\w+\}/g))].sort();

/** Prompts for the model, which the shipped one understands in English only; a starter shows another language. */
const PROMPTS = new Set(["usualPrompt", "longPrompt", "question", "secondQuestion", "filler", "starter6"]);
/** Texts whose "one" need not say the number: they are not said of zero, which Hindi counts as one. */
const NEVER_OF_ZERO = new Set(["historyMode"]);
/** Names, units, keys, formulas, and what programmers in India write in Latin letters themselves. */
const NAMES = new Set(
  `Firstword WebSocket SSE NDJSON HTTP http JSON Markdown CSV PNG HTML MB SHA QR VPN AI UTF TCP TLS gRPC grpc client call Generate Attach
  Server sent events EventSource Last Event ID DELETE stop seq attach after generate stream body response
  port extra app decode weights keys values Orca OSDI chunked Sarathi Serve pytest tests test lab
  obvious py Incremental decoder event process join read json task finally transports proto Batching
  ms s bit kbit Mbit Enter Shift Esc Space Page Up Down T P B R Top top p k Min min
  Andes Etalon arXiv Brysbaert Wilson TTFT TPOT floor max L a i n r c d K7Q X2M I O G
  prefill Prefill interpolated temperature seed hash reply text object hexadecimal secure context
  nginx proxy buffering off compression event stream application x ndjson firstword doctor lan
  Backpressure gzip flush Nagle TCP NODELAY Python loop Event delayed acknowledgement X Accel Buffering no
  Cache Control transform ignore headers sequence bytes byte replacement Decoder buffer timer exact sign test`.split(/\s+/),
);

test("every language has every table of English, and no other", () => {
  for (const code of LANGUAGES) assert.deepEqual(tablesOf(code), tablesOf("en"), code);
});

for (const code of LANGUAGES.filter((each) => each !== "en")) {
  for (const file of tablesOf("en")) {
    test(`${code}/${file} says what English says, with the same values`, async () => {
      const [english, other] = await Promise.all([load("en", file), load(code, file)]);
      assert.deepEqual(Object.keys(other).sort(), Object.keys(english).sort(), "same words");
      for (const [name, text] of Object.entries(other)) {
        const model = formsOf(english[name] ?? "");
        assert.deepEqual(holesOf(formsOf(text).other ?? ""), holesOf(model.other ?? ""), `values of ${name}`);
        assert.equal(typeof text, typeof english[name], `${name} counts in one language only`);
      }
    });

    test(`${code}/${file} has the plural forms of its language`, async () => {
      const categories = new Intl.PluralRules(code).resolvedOptions().pluralCategories.sort();
      for (const [name, text] of Object.entries(await load(code, file))) {
        if (typeof text === "string") continue;
        assert.deepEqual(Object.keys(text).sort(), categories, name);
        if (NEVER_OF_ZERO.has(name)) continue;
        for (const form of Object.values(formsOf(text))) {
          assert.ok(form.includes("{count}") || !text.other.includes("{count}"), `${name} has to say the number`);
        }
      }
    });

    test(`${code}/${file} leaves no English but names`, async () => {
      for (const [name, text] of Object.entries(await load(code, file))) {
        if (PROMPTS.has(name)) continue;
        for (const form of Object.values(formsOf(text))) {
          const left = (form.replace(/\{\w+\}/g, " ").match(/[A-Za-z][A-Za-z0-9]*/g) ?? []).filter((word) => !NAMES.has(word));
          assert.deepEqual(left, [], name);
        }
      }
    });
  }
}

/** @param {URL} module @param {Set<string>} [seen] @returns {Set<string>} addresses of what it imports, early or late, and its own */
function importsOf(module, seen = new Set()) {
  if (seen.has(module.href)) return seen;
  seen.add(module.href);
  for (const [, path] of readFileSync(module, "utf8").matchAll(/(?:\bfrom |\bimport\(|^import )"(\.[^"]+)"/gm)) {
    importsOf(new URL(path ?? "", module), seen);
  }
  return seen;
}

/** @param {string} page @returns {string[][]} the tables that come together on it; each experiment of the lab is a page */
function tablesOn(page) {
  const names = new Set();
  for (const module of importsOf(new URL(`../pages/${page}`, ROOT))) {
    for (const [, list] of readFileSync(new URL(module), "utf8").matchAll(/speak\(\[(.+?)\]\)/g)) {
      for (const [, name] of list?.matchAll(/["`]([\w${}]+)["`]/g) ?? []) names.add(name);
    }
  }
  if (!names.delete("lab_${name}")) return [[...names]];
  const experiments = tablesOf("en").filter((file) => file.startsWith("lab_")).map((file) => file.replace(".js", ""));
  return experiments.map((experiment) => [...names, experiment]);
}

for (const page of readdirSync(new URL("../pages/", ROOT))) {
  test(`the tables of ${page} give no word two texts: the last one to come would change what the page says`, async () => {
    for (const names of tablesOn(page)) {
      for (const code of LANGUAGES) {
        /** @type {Map<string, [string, import("../../static/js/words.js").Text]>} */
        const known = new Map();
        for (const name of names) {
          for (const [word, text] of Object.entries(await load(code, `${name}.js`))) {
            const [other, said] = known.get(word) ?? [name, text];
            assert.deepEqual(text, said, `${word} in ${code}/${other} and ${code}/${name}`);
            known.set(word, [name, text]);
          }
        }
      }
    }
  });
}

test("the tables of a page are found, also those that come late", () => {
  assert.deepEqual(tablesOn("chat.js").flat().sort(), ["chat", "common", "details", "reply", "talk"]);
  assert.ok(tablesOn("teach.js").flat().includes("race"));
  assert.ok(tablesOn("lab.js").length > 4);
});

test("Hindi counts nothing and one alike, and more by the other form", async () => {
  await speak(["common", "talk"], "hi");
  assert.equal(say("imported", { count: 1 }), "1 चैट लाई गई।");
  assert.equal(say("imported", { count: 2 }), "2 चैट लाई गईं।");
  assert.equal(say("arrivals", { count: 0 }), "पाठ 0 बार आया");
});

test("a language that nobody has written is answered in English", async () => {
  await speak(["common"], "fr");
  assert.equal(say("send"), "Send");
});
