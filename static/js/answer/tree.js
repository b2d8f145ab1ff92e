/**
 * Tokens of `marked` → a tree of the few elements an answer may have. This is the allow-list: what has
 * no rule here becomes text. Raw HTML is shown as text, images become links, and a link keeps its
 * address only when it is http, https or mailto. Pure; it refuses to know the DOM.
 *
 * @typedef {{ tag: string, attributes: Record<string, string>, children: Node_[] }} Element_
 * @typedef {string | Element_} Node_
 * @typedef {import("marked").Token} Token
 */

const SAFE_LINK = /^(?:https?:\/\/|mailto:)/i;
/** Deeper nesting than this is an attack on the stack, not an answer. */
const MAX_DEPTH = 40;

/**
 * @param {Token[]} tokens
 * @param {boolean} [openMath] the last formula is still growing: show its source
 * @returns {Node_[]}
 */
export function treeOf(tokens, openMath = false) {
  const nodes = blocks(tokens, 0);
  if (openMath) openLastMath(nodes);
  return nodes;
}

/**
 * @param {string} address
 * @returns {string | null} the address, or null where a click on it must not be possible
 */
export function safeLink(address) {
  // Browsers skip tabs, newlines and control signs inside a scheme; so does this test.
  const plain = address.replace(/[\u0000-\u0020\u007f-\u00a0\u200b-\u200f\u2028-\u202f\ufeff]/g, "");
  return SAFE_LINK.test(plain) && SAFE_LINK.test(address) ? address : null;
}

// Private

/**
 * @param {string} tag
 * @param {Node_[]} children
 * @param {Record<string, string>} [attributes]
 * @returns {Element_}
 */
const make = (tag, children, attributes = {}) => ({ tag, attributes, children });

/** @param {Token[]} tokens @param {number} depth @returns {Node_[]} */
function blocks(tokens, depth) {
  return tokens.flatMap((token) => block(/** @type {any} */ (token), depth));
}

/** One block. The token is marked's union, which names every type a plug-in may add, hence `any`.
 * @param {any} token @param {number} depth @returns {Node_[]} */
function block(token, depth) {
  if (depth > MAX_DEPTH) return [make("p", [token.raw])];
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "heading":
      // The page's own headings come before the answer's.
      return [make(`h${Math.min(6, token.depth + 2)}`, inline(token.tokens, depth), AUTO)];
    case "paragraph":
      return [make("p", inline(token.tokens, depth), AUTO)];
    case "text":
      return token.tokens ? inline(token.tokens, depth) : [unescape(token.text)];
    case "code":
      return [make("pre", [make("code", [`${token.text}\n`])], { dir: "ltr", "data-code": token.lang ?? "" })];
    case "blockquote":
      return [make("blockquote", blocks(token.tokens, depth + 1), AUTO)];
    case "list":
      return [list(token, depth)];
    case "table":
      return [table(token, depth)];
    case "hr":
      return [make("hr", [])];
    case "blockMath":
      return [make("div", [token.raw.trim()], { class: "math", "data-math": token.text, "data-display": "block" })];
    case "html":
      return [make("p", [token.raw.replace(/\n+$/, "")], AUTO)];
    default:
      return token.tokens ? [make("p", inline(token.tokens, depth), AUTO)] : [token.raw ?? ""];
  }
}

const AUTO = { dir: "auto" };

/** @param {any} token @param {number} depth */
function list(token, depth) {
  const items = token.items.map((/** @type {any} */ item) => {
    const children = blocks(item.tokens.filter((/** @type {any} */ t) => t.type !== "checkbox"), depth + 1);
    if (!item.task) return make("li", children, AUTO);
    /** @type {Record<string, string>} */
    const box = { type: "checkbox", disabled: "" };
    if (item.checked) box.checked = "";
    return make("li", [make("input", [], box), ...children], { ...AUTO, class: "task" });
  });
  /** @type {Record<string, string>} */
  const attributes = token.ordered && token.start !== 1 && token.start !== "" ? { start: String(token.start) } : {};
  return make(token.ordered ? "ol" : "ul", items, attributes);
}

/** @param {any} token @param {number} depth */
function table(token, depth) {
  const cell = (/** @type {string} */ tag, /** @type {any} */ data) =>
    make(tag, inline(data.tokens, depth), data.align ? { ...AUTO, class: `align-${data.align}` } : AUTO);
  const head = make("tr", token.header.map((/** @type {any} */ data) => cell("th", data)));
  const rows = token.rows.map((/** @type {any[]} */ row) => make("tr", row.map((data) => cell("td", data))));
  const parts = [make("thead", [head]), ...(rows.length ? [make("tbody", rows)] : [])];
  return make("div", [make("table", parts)], { class: "table", tabindex: "0" });
}

/** @type {Record<string, string>} */
const SPANS = { strong: "strong", em: "em", del: "del" };

/** @param {Token[]} tokens @param {number} depth @returns {Node_[]} */
function inline(tokens, depth) {
  if (depth > MAX_DEPTH) return tokens.map((token) => token.raw);
  return join(tokens.flatMap((token) => span(/** @type {any} */ (token), depth + 1)));
}

/** @param {any} token @param {number} depth @returns {Node_[]} */
function span(token, depth) {
  switch (token.type) {
    case "text":
      return token.tokens ? inline(token.tokens, depth) : [unescape(token.text)];
    case "escape":
      return [unescape(token.text)];
    case "codespan":
      return [make("code", [token.text], { dir: "ltr" })];
    case "br":
      return [make("br", [])];
    case "link":
      return link(token.href, inline(token.tokens, depth));
    case "image":
      return link(token.href, [token.text || token.href]);
    case "inlineMath":
      return [make("span", [token.raw], { class: "math", "data-math": token.text, "data-display": token.display })];
    default:
      if (SPANS[token.type]) return [make(/** @type {string} */ (SPANS[token.type]), inline(token.tokens, depth))];
      return [token.raw ?? ""];
  }
}

/** @param {string} href @param {Node_[]} children @returns {Node_[]} */
function link(href, children) {
  const safe = safeLink(href);
  if (safe === null) return children;
  return [make("a", children, { href: safe, rel: "noopener noreferrer nofollow", target: "_blank" })];
}

/** Neighbouring texts become one text, so that a growing paragraph grows in one text node.
 * @param {Node_[]} nodes */
function join(nodes) {
  /** @type {Node_[]} */
  const joined = [];
  for (const node of nodes) {
    const last = joined.at(-1);
    if (typeof node === "string" && typeof last === "string") joined[joined.length - 1] = last + node;
    else joined.push(node);
  }
  return joined;
}

const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: "\u00a0" };

/** marked leaves entities of the source as they are; the commonest are named here, the rest stay text.
 * @param {string} text */
function unescape(text) {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name) => ENTITIES[/** @type {"amp"} */ (name)]);
}

/** @param {Node_[]} nodes @returns {boolean} whether a formula was found */
function openLastMath(nodes) {
  for (const node of [...nodes].reverse()) {
    if (typeof node === "string") continue;
    if (node.attributes["data-math"] !== undefined) {
      node.children = [node.attributes["data-math"]];
      node.attributes = { class: "math open" };
      return true;
    }
    if (openLastMath(node.children)) return true;
  }
  return false;
}
