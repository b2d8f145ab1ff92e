/**
 * A code fence on the page while it grows: every line is an element of its own, the open line is one
 * text node that is appended to, and only finished lines are coloured. At the end the whole is coloured
 * once more, because a string over several lines is seen only then; lines whose colours are right
 * already are not touched, so a selection survives. It refuses to know Markdown.
 *
 * @typedef {{ text: string, type: string }} Piece
 */

import { loadSpeedHighlight } from "./libraries.js";
import { Jobs, Slice } from "./slices.js";

/** Longer code stays uncoloured: colouring must not hold up the text. */
const MAX_COLOURED_CHARS = 50_000;
/** Lines lie in groups, so that a browser need not lay out those of a long block that nobody sees. */
const GROUP_LINES = 50;

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

const colourings = new Jobs();

export class CodeBlock {
  #code = "";
  #language = "";
  /** @type {HTMLElement[]} */
  #lines = [];
  /** @type {HTMLElement | null} */
  #group = null;
  /** @type {HTMLElement | null} */
  #openLine = null;
  #isWhole = false;

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
    const language = this.#coloured;
    if (!language || this.#lines.length < 2) return;
    this.#isWhole = true;
    colourings.add(async () => {
      const lines = intoLines(await piecesOf(this.#code, language));
      const slice = new Slice();
      for (const [i, line] of lines.entries()) {
        colour(this.#lines[i], line);
        if (slice.isOver) await slice.next();
      }
    });
  }

  // Private

  #line() {
    if (!this.#openLine) {
      if (this.#lines.length % GROUP_LINES === 0) this.body.append((this.#group = this.#span("lines")));
      this.#openLine = this.#span("line");
      this.#group?.append(this.#openLine);
    }
    return this.#openLine;
  }

  /** @param {string} className */
  #span(className) {
    const span = this.body.ownerDocument.createElement("span");
    span.className = className;
    return span;
  }

  /** @returns {string | null} the language in which it is coloured, if it is */
  get #coloured() {
    return this.#code.length > MAX_COLOURED_CHARS ? null : languageOf(this.#language);
  }

  /** @param {HTMLElement} line */
  #finishLine(line) {
    this.#openLine = null;
    this.#lines.push(line);
    const language = this.#coloured;
    if (!language) return;
    const text = line.textContent ?? "";
    colourings.add(async () => {
      // The whole is coloured next, this line with it.
      if (!this.#isWhole) colour(line, await piecesOf(text, language));
    });
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
