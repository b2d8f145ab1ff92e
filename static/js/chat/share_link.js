/**
 * An experiment as a link: prompt, delivery and settings in the fragment, which no server ever sees.
 * Whoever wrote a link is nobody we know: it is read by allow-list and within limits, and it never
 * sends by itself. Pure.
 *
 * @typedef {import("./settings.js").Settings} Settings
 * @typedef {{ prompt: string, mode: import("./reply.js").Mode, settings: Settings }} Experiment
 */

import { chosenSettings, readSettings } from "./settings.js";
import { Unreadable, readChoice, readObject, readText } from "./untrusted.js";

/** By this pages/chat.js knows a link, without fetching this module. */
const MARK = "#try=";
const VERSION = 1;
const MAX_PROMPT_CHARS = 20_000;
/** Longer links break in mails and chats; browsers themselves take more. */
const MAX_LINK_CHARS = 60_000;

/** @param {string} page its address @param {Experiment} experiment @returns {string} */
export function experimentLink(page, { prompt, mode, settings }) {
  const json = JSON.stringify({ v: VERSION, prompt, mode, settings: chosenSettings(settings) });
  return page.split("#")[0] + MARK + toBase64Url(json);
}

/** @param {string} fragment @returns {Experiment & { refused: string[] }} Raises Unreadable */
export function readExperiment(fragment) {
  if (fragment.length > MAX_LINK_CHARS) throw new Unreadable("tooLong", "link", { count: fragment.length, most: MAX_LINK_CHARS });
  const value = readObject(parsed(fragment.slice(MARK.length)), "link");
  if (value.v !== VERSION) throw new Unreadable("otherVersion", "link", { version: VERSION });
  const prompt = readText(value.prompt, "prompt", MAX_PROMPT_CHARS);
  const mode = readChoice(value.mode ?? "streamed", "mode", /** @type {const} */ (["streamed", "whole"]));
  return { prompt, mode, ...readSettings(value.settings) };
}

// Private

/** @param {string} text */
function toBase64Url(text) {
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} encoded @returns {unknown} */
function parsed(encoded) {
  try {
    const bytes = Uint8Array.from(atob(encoded.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Unreadable("notALink", "link");
  }
}
