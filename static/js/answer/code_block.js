/**
 * A code fence on the page while it grows: every line is an element of its own, the open line is one
 * text node that is appended to, and only finished lines are coloured. At the end the whole is coloured
 * once more, because a string over several lines is seen only then; lines whose colours are right
 * already are not touched, so a selection survives. It refuses to know Markdown.
 *
 * @typedef {{ text: string, type: string }} Piece
 */

import { loadSpeedHighlight } from "./libraries.js";

/** Longer code stays uncoloured: colouring must not hold up the text. */
const MAX_COLOURED_CHARS = 50_000;

/** @type {Record<string, string>} */
const ALIASES = {
  python: "py", py3: "py", javascript: "js", jsx: "js", typescript: "ts", tsx: "ts", shell: "bash", sh: "bash",
  zsh: "bash", console: "bash", rust: "rs", golang: "go", "c++": "c", cpp: "c", h: "c", svg: "xml", yml: "yaml",
  markdown: "md", makefile: "make", dockerfile: "docker", perl: "pl",
};
const KNOWN = new Set(
  ["asm", "bash", "bf", "c", "css", "csv", "diff", "docker", "git", "go", "html", "http", "ini", "java", "js",
    "jsdoc", "json", "log", "lua", "make", "md", "pl", "py", "regex", "rs", "sql", "toml", "ts", "uri", "xml", "yaml"],
);

export class CodeBlock {
  #code = "";
  #language = "";
  #lines = 0;
  /** @type {HTMLElement | null} */
  #openLine = null;
  #colouring = Promise.resolve();

  /** @param {{ pre: HTMLElement, label: HTMLElement }} parts @param {(language: string) => string} name */
  constructor(parts, name) {
    this.element = parts.pre;
    this.label = parts.label;
    this.name = name;
    this.body = parts.pre.ownerDocument.createElement("code");
    parts.pre.append(this.body);
  }

  /** @returns {string} all of the code that is shown */
  get code() {
    return this.#code;
  }

  /**
   * Show the code; it may only have grown since the last call.
   * @param {string} language
   * @param {string} code
   */
  show(language, code) {
    if (language !== this.#language || this.label.textContent === "") {
      this.#language = language;
      this.label.textContent = this.name(language);
    }
    const lines = code.slice(this.#code.length).split("\n");
    this.#code = code;
    lines.forEach((text, i) => {
      const line = this.#line();
      const isFinished = i < lines.length - 1;
      if (text || isFinished) appendText(line, isFinished ? `${text}\n` : text);
      if (isFinished) this.#finishLine(line);
    });
  }

  /** The fence is closed: colour the whole, seeing strings and comments over several lines. */
  finish() {
    const language = languageOf(this.#language);
    if (!language || this.#code.length > MAX_COLOURED_CHARS || this.#lines < 2) return;
    this.#colouring = this.#colouring.then(async () => {
      const pieces = await piecesOf(this.#code, language);
      intoLines(pieces).forEach((line, i) => colour(this.body.children[i], line));
    });
  }

  // Private

  #line() {
    if (!this.#openLine) {
      this.#openLine = this.body.ownerDocument.createElement("span");
      this.#openLine.className = "line";
      this.body.append(this.#openLine);
    }
    return this.#openLine;
  }

  /** @param {HTMLElement} line */
  #finishLine(line) {
    this.#openLine = null;
    this.#lines += 1;
    const language = languageOf(this.#language);
    if (!language || this.#code.length > MAX_COLOURED_CHARS) return;
    const text = line.textContent ?? "";
    this.#colouring = this.#colouring.then(async () => colour(line, await piecesOf(text, language)));
  }
}

/**
 * Cut coloured pieces at newlines; the newline stays at the end of its line.
 * @param {Piece[]} pieces
 * @returns {Piece[][]}
 */
export function intoLines(pieces) {
  /** @type {Piece[][]} */
  const lines = [[]];
  for (const { text, type } of pieces) {
    (text.match(/[^\n]*\n|[^\n]+/g) ?? []).forEach((part) => {
      /** @type {Piece[]} */ (lines.at(-1)).push({ text: part, type });
      if (part.endsWith("\n")) lines.push([]);
    });
  }
  return lines.filter((line) => line.length > 0);
}

/** @param {string} name as the fence gives it @returns {string | null} a name the highlighter knows */
export function languageOf(name) {
  const low = name.toLowerCase();
  const language = ALIASES[low] ?? low;
  return KNOWN.has(language) ? language : null;
}

// Private

/** @param {HTMLElement} line @param {string} text */
function appendText(line, text) {
  const last = line.lastChild;
  if (last instanceof Text) last.appendData(text);
  else line.append(text);
}

/** @param {string} code @param {string} language @returns {Promise<Piece[]>} */
async function piecesOf(code, language) {
  const library = await loadSpeedHighlight();
  /** @type {Piece[]} */
  const pieces = [];
  if (!library) return pieces;
  try {
    await library.tokenize(code, language, (text, type) => void pieces.push({ text, type: type ?? "" }));
  } catch {
    return [];
  }
  return pieces;
}

/**
 * Give a finished line its colours, unless it has them already. A line whose pieces do not add up to
 * its text is left alone: colours may fail, text may not.
 * @param {Element | undefined} line
 * @param {Piece[]} pieces
 */
function colour(line, pieces) {
  if (!line || pieces.map((piece) => piece.text).join("") !== line.textContent) return;
  const present = Array.from(line.childNodes, (node) =>
    node instanceof Element ? `${node.className}\n${node.textContent}` : `\n${node.textContent}`);
  const wanted = pieces.map(({ text, type }) => `${type ? `c-${type}` : ""}\n${text}`);
  if (present.join("\0") === wanted.join("\0")) return;
  line.replaceChildren(...pieces.map(({ text, type }) => {
    if (!type) return text;
    const span = document.createElement("span");
    span.className = `c-${type}`;
    span.textContent = text;
    return span;
  }));
}
