/**
 * Finding and making elements, with types: a missing part of a template is our mistake and says so.
 */

/**
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} name of the part: `data-part="name"`
 * @param {new () => T} kind
 * @returns {T}
 */
export function part(root, name, kind) {
  const found = root.querySelector(`[data-part="${name}"]`);
  if (!(found instanceof kind)) throw new Error(`the page has no part ${name}`);
  return found;
}

/**
 * A copy of what a `<template>` holds.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function fromTemplate(id) {
  const template = document.getElementById(id);
  const first = template instanceof HTMLTemplateElement ? template.content.firstElementChild : null;
  if (!first) throw new Error(`the page has no template ${id}`);
  return /** @type {HTMLElement} */ (document.importNode(first, true));
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {(Node | string)[]} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** @param {string} tag @param {string} className @param {(Node | string)[]} children @returns {HTMLElement} */
export function element(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** Write a text only when it differs: screen readers and layout hear of changes only.
 * @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
