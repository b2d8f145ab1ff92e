/**
 * Every word the pages say comes from here. The tables lie in words/<language>/<page>.js, so a page
 * loads only its own and another language is another folder. A text with `{name}` takes values; a text
 * that counts has one form per plural category of Intl.PluralRules. This module refuses to know where
 * a word is shown.
 */

/** @typedef {string | { one?: string, other: string }} Text */
/** @typedef {Record<string, Text>} Table */

export const LANGUAGES = ["en", "hi"];

/** @type {Map<string, Text>} */
const known = new Map();
let plural = new Intl.PluralRules("en");

/**
 * Load the tables of these names; await it before anything is said. What a language lacks is said in
 * English: a word in the wrong language helps more than none.
 * @param {string[]} names
 * @param {string} [language] by default the one of the page, which pages/first_look.js has set
 */
export async function speak(names, language = globalThis.document?.documentElement.lang || "en") {
  const languages = language === "en" || !LANGUAGES.includes(language) ? ["en"] : ["en", language];
  plural = new Intl.PluralRules(languages.at(-1));
  const tables = await Promise.all(languages.flatMap((code) => names.map((name) => import(`./words/${code}/${name}.js`))));
  for (const { default: table } of tables) for (const name in table) known.set(name, table[name]);
}

/**
 * The text called `name` with its values filled in.
 * @param {string} name
 * @param {Record<string, string | number>} [values] `count` chooses the plural form
 * @returns {string}
 */
export function say(name, values = {}) {
  const text = known.get(name);
  if (text === undefined) throw new Error(`no word for ${name}`);
  return formOf(text, values).replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));
}

/**
 * Fill a server-rendered page and its templates: `data-word` is an element's text,
 * `data-word-<attribute>` an attribute.
 * @param {ParentNode} root
 */
export function fillWords(root) {
  for (const element of root.querySelectorAll("[data-word]")) {
    element.textContent = say(element.getAttribute("data-word") ?? "");
  }
  for (const attribute of ["aria-label", "title", "placeholder"]) {
    for (const element of root.querySelectorAll(`[data-word-${attribute}]`)) {
      element.setAttribute(attribute, say(element.getAttribute(`data-word-${attribute}`) ?? ""));
    }
  }
  for (const template of root.querySelectorAll("template")) fillWords(template.content);
}

// Private

/**
 * @param {Text} text
 * @param {Record<string, string | number>} values
 */
function formOf(text, values) {
  if (typeof text === "string") return text;
  return plural.select(Number(values.count)) === "one" && text.one ? text.one : text.other;
}
