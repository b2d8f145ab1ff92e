/**
 * As much of a DOM as the answer needs, for tests without a browser: nodes, text, attributes. It counts
 * what was changed, so that a test can see that finished parts are left alone.
 */

class FakeNode {
  /** @type {FakeNode[]} */
  childNodes = [];
  /** @type {FakeNode | null} */
  parent = null;
  ownerDocument = fakeDocument;
  nodeType = 1;
  /** An element's; text has none. @param {string} name @returns {string | null} */
  getAttribute(name) {
    return name && null;
  }
  /** @returns {FakeNode | null} */
  get lastChild() {
    return this.childNodes.at(-1) ?? null;
  }
  /** @returns {FakeNode | null} */
  get lastElementChild() {
    return this.childNodes.filter((node) => node.nodeType === 1).at(-1) ?? null;
  }
  /** @returns {string} */
  get textContent() {
    return this.childNodes.map((node) => node.textContent).join("");
  }
  set textContent(text) {
    this.childNodes = [];
    if (text) this.append(text);
  }
  get children() {
    return this.childNodes.filter((node) => node.nodeType === 1);
  }
  /** @param {(FakeNode | string)[]} nodes */
  append(...nodes) {
    for (const node of nodes) this.appendChild(typeof node === "string" ? new FakeText(node) : node);
  }
  /** @param {FakeNode} node */
  appendChild(node) {
    node.remove();
    node.parent = this;
    this.childNodes.push(node);
    return node;
  }
  /** @param {FakeNode} fresh @param {FakeNode} old */
  replaceChild(fresh, old) {
    fresh.parent = this;
    this.childNodes[this.childNodes.indexOf(old)] = fresh;
    old.parent = null;
  }
  /** @param {(FakeNode | string)[]} nodes */
  replaceChildren(...nodes) {
    this.childNodes = [];
    this.append(...nodes);
  }
  remove() {
    if (this.parent) this.parent.childNodes = this.parent.childNodes.filter((node) => node !== this);
    this.parent = null;
  }
}

export class FakeText extends FakeNode {
  /** @override */
  nodeType = 3;
  /** @param {string} data */
  constructor(data) {
    super();
    this.data = data;
  }
  /** @param {string} text */
  appendData(text) {
    this.data += text;
  }
  /** @override @returns {string} */
  get textContent() {
    return this.data;
  }
  /** @override @param {string} text */
  set textContent(text) {
    this.data = text;
  }
}

export class FakeElement extends FakeNode {
  /** @type {Map<string, string>} */
  attributes = new Map();
  /** @param {string} localName */
  constructor(localName) {
    super();
    this.localName = localName;
  }
  /** @override @param {string} name */
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }
  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes.set(name, value);
  }
  /** @param {string} name */
  removeAttribute(name) {
    this.attributes.delete(name);
  }
  /** @param {string} name */
  hasAttribute(name) {
    return this.attributes.has(name);
  }
  getAttributeNames() {
    return [...this.attributes.keys()];
  }
  get className() {
    return this.getAttribute("class") ?? "";
  }
  set className(name) {
    this.setAttribute("class", name);
  }
  /** @param {string} value */
  set dir(value) {
    this.setAttribute("dir", value);
  }
  /** @returns {string} the markup, for comparing */
  get markup() {
    const names = this.getAttributeNames().sort().map((name) => ` ${name}="${this.attributes.get(name)}"`).join("");
    const inner = this.childNodes.map((node) => (node instanceof FakeElement ? node.markup : node.textContent)).join("");
    return `<${this.localName}${names}>${inner}</${this.localName}>`;
  }
}

export const fakeDocument = {
  documentElement: { dataset: { libraries: "" } },
  /** @param {string} tag */
  createElement: (tag) => new FakeElement(tag),
  /** @param {string} text */
  createTextNode: (text) => new FakeText(text),
};
