/**
 * Make a DOM element's children look like a tree, touching only what differs. While text streams in,
 * that is almost always an append to the last text node, so a selection further up survives and
 * nothing flickers. Elements are made one by one from the tree's allow-list; markup strings never are.
 *
 * @typedef {import("./tree.js").Node_} Node_
 */

/**
 * @param {Element} parent
 * @param {Node_[]} nodes
 * @param {(element: Element) => void} [made] told about every new element, outermost last
 */
export function patch(parent, nodes, made = () => {}) {
  nodes.forEach((node, i) => {
    const present = parent.childNodes[i];
    if (present && patchNode(present, node, made)) return;
    const fresh = create(parent.ownerDocument, node, made);
    if (present) parent.replaceChild(fresh, present);
    else parent.appendChild(fresh);
  });
  while (parent.childNodes.length > nodes.length) parent.lastChild?.remove();
}

// Private

/**
 * @param {ChildNode} present
 * @param {Node_} node
 * @param {(element: Element) => void} made
 * @returns {boolean} false when the present node is of another kind and must go
 */
function patchNode(present, node, made) {
  if (typeof node === "string") {
    if (present.nodeType !== 3) return false;
    const text = /** @type {Text} */ (present);
    if (text.data === node) return true;
    if (node.startsWith(text.data)) text.appendData(node.slice(text.data.length));
    else text.data = node;
    return true;
  }
  if (present.nodeType !== 1) return false;
  const element = /** @type {Element} */ (present);
  if (element.localName !== node.tag || element.getAttribute("data-math") !== (node.attributes["data-math"] ?? null)) {
    return false;
  }
  setAttributes(element, node.attributes);
  // A formula that was drawn is not the tree's text any more; the same source needs no second drawing.
  if (node.attributes["data-math"] === undefined) patch(element, node.children, made);
  return true;
}

/**
 * @param {Document} document
 * @param {Node_} node
 * @param {(element: Element) => void} made
 * @returns {Text | Element}
 */
function create(document, node, made) {
  if (typeof node === "string") return document.createTextNode(node);
  const element = document.createElement(node.tag);
  setAttributes(element, node.attributes);
  for (const child of node.children) element.appendChild(create(document, child, made));
  made(element);
  return element;
}

/** @param {Element} element @param {Record<string, string>} attributes */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
  for (const name of element.getAttributeNames()) {
    if (attributes[name] === undefined) element.removeAttribute(name);
  }
}
