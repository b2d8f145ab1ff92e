/**
 * One answer on the page: text goes in piece by piece, elements come out. Finished blocks are read
 * once and never touched again; only the open tail is read anew, mended so that half-made markup does
 * not flicker. Where `marked` is not installed the text is shown as it is, append-only.
 *
 * Much text at once is drawn in slices, each in a task of its own. A tail that is very long (a list of a
 * thousand lines) is read anew only when it has grown by a quarter; between, its text is appended as it
 * comes. Of a very long answer the blocks lie in chunks, so that a browser need not walk all of them for
 * every frame. So the whole work stays linear.
 */

import { BlockSplitter, readFence } from "./blocks.js";
import { CodeBlock } from "./code_block.js";
import { drawMath, mathExtension } from "./math.js";
import { mend } from "./mend.js";
import { patch } from "./patch.js";
import { SLICE_CHARS, Slice, sliceOf } from "./slices.js";
import { treeOf } from "./tree.js";

/** @typedef {import("./blocks.js").Block} Block */
const LONG_TAIL_CHARS = 6000;
/** Blocks of an ordinary answer, and those of a chunk. */
const CHUNK_BLOCKS = 16;

export class Answer {
  #splitter = new BlockSplitter();
  #lex;
  #root;
  #parts;
  /** The element of the open tail, and its code block where it is one.
   * @type {{ element: HTMLElement, code: CodeBlock | null } | null} */
  #open = null;
  #readChars = 0;
  /** @type {HTMLElement} */
  #chunk;
  #inChunk = 0;
  /** What has come and is not drawn yet. */
  #rest = "";
  #isDrawing = false;
  #isOver = false;

  /**
   * @param {HTMLElement} root empty; owned from now on
   * @param {import("./libraries.js").Marked | null} marked
   * @param {() => { frame: HTMLElement, pre: HTMLElement, label: HTMLElement }} codeParts makes the frame of a code block
   * @param {(language: string) => string} codeName
   */
  constructor(root, marked, codeParts, codeName) {
    this.#root = root;
    this.#chunk = root;
    this.#parts = { make: codeParts, name: codeName };
    this.#lex = marked && lexerOf(marked);
  }

  /** A text that was read before: it is seen when all of it is drawn, so nothing runs past the reader.
   * @param {string} text */
  restore(text) {
    this.#root.setAttribute("aria-busy", "true");
    this.append(text);
  }

  /** @param {string} text the next piece */
  append(text) {
    this.#rest += text;
    if (!this.#isDrawing) void this.#draw();
  }

  /** No text will come any more: read the tail as it is. */
  finish() {
    this.#isOver = true;
    if (!this.#isDrawing) this.#end();
  }

  // Private

  async #draw() {
    this.#isDrawing = true;
    for (const slice = new Slice(); this.#rest !== ""; ) {
      const piece = sliceOf(this.#rest, SLICE_CHARS);
      this.#rest = this.#rest.slice(piece.length);
      this.#take(piece);
      if (this.#rest !== "" && slice.isOver) await slice.next();
    }
    this.#isDrawing = false;
    if (this.#isOver) this.#end();
    this.#root.removeAttribute("aria-busy");
  }

  #end() {
    if (this.#lex) for (const block of this.#splitter.end()) this.#finish(block);
  }

  /** @param {string} text */
  #take(text) {
    if (!this.#lex) return this.#appendPlain(text);
    for (const block of this.#splitter.push(text)) this.#finish(block);
    this.#showTail(text);
  }

  /** @param {string} text */
  #appendPlain(text) {
    this.#open ??= { element: this.#block("plain"), code: null };
    const last = this.#open.element.lastChild;
    if (last instanceof Text) last.appendData(text);
    else this.#open.element.append(text);
  }

  /** @param {Block} block */
  #finish(block) {
    if (block.kind === "code") {
      const { language, code } = readFence(block.source, false);
      const open = this.#codeBlock();
      open.show(language, code);
      open.finish();
    } else if (block.source.trim() !== "" || this.#open) {
      this.#render(block.source, false);
    }
    this.#open = null;
    this.#readChars = 0;
  }

  /** @param {string} text what came last */
  #showTail(text) {
    const { tail, kind } = this.#splitter;
    if (tail.trim() === "") return;
    if (kind === "code") {
      if (!tail.includes("\n")) return;
      const { language, code } = readFence(tail, true);
      this.#codeBlock().show(language, code);
    } else if (tail.length > LONG_TAIL_CHARS && tail.length < this.#readChars * 1.25 && this.#open) {
      lastTextParent(this.#open.element).append(text);
    } else {
      this.#readChars = tail.length;
      this.#render(tail, true);
    }
  }

  /**
   * @param {string} source
   * @param {boolean} isOpen
   */
  #render(source, isOpen) {
    const { text, openMath } = isOpen ? mend(source) : { text: source, openMath: false };
    const lex = /** @type {(text: string) => import("marked").Token[]} */ (this.#lex);
    const nodes = treeOf(lex(text), openMath);
    if (nodes.length === 0) {
      // A link definition, or signs that turned out to be nothing: no empty block stays behind.
      this.#open?.element.remove();
      this.#open = null;
      return;
    }
    // What began as a fence and turned out to be prose.
    if (this.#open?.code) this.#open.element.remove();
    if (!this.#open || this.#open.code) this.#open = { element: this.#block("prose"), code: null };
    patch(this.#open.element, nodes, (element) => {
      if (element.hasAttribute("data-math")) drawMath(element);
    });
  }

  #codeBlock() {
    if (this.#open?.code) return this.#open.code;
    this.#open?.element.remove();
    const { frame, pre, label } = this.#parts.make();
    this.#place(frame);
    const code = new CodeBlock({ pre, label }, this.#parts.name);
    this.#open = { element: frame, code };
    return code;
  }

  /** @param {string} kind */
  #block(kind) {
    const element = this.#root.ownerDocument.createElement("div");
    element.className = `block ${kind}`;
    element.dir = "auto";
    this.#place(element);
    return element;
  }

  /** @param {HTMLElement} block */
  #place(block) {
    if (this.#inChunk === CHUNK_BLOCKS) {
      this.#chunk = this.#root.ownerDocument.createElement("div");
      this.#chunk.className = "chunk";
      this.#root.append(this.#chunk);
      this.#inChunk = 0;
    }
    this.#inChunk += 1;
    this.#chunk.append(block);
  }
}

// Private

/** @param {import("./libraries.js").Marked} library @returns {(text: string) => import("marked").Token[]} */
function lexerOf(library) {
  const marked = new library.Marked({ gfm: true }, mathExtension());
  /** Link definitions of earlier blocks serve later ones. @type {Record<string, any>} */
  const links = {};
  return (text) => {
    const lexer = new library.Lexer(marked.defaults);
    Object.assign(lexer.tokens.links, links);
    const tokens = lexer.lex(text);
    Object.assign(links, lexer.tokens.links);
    return tokens;
  };
}

/** @param {Element} element @returns {Element} the deepest last element, where text goes on */
function lastTextParent(element) {
  let parent = element;
  while (parent.lastElementChild && parent.lastChild === parent.lastElementChild) parent = parent.lastElementChild;
  return parent;
}
