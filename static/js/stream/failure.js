/**
 * Why something failed, in the page's language: a sentence of its own for every code of the server's errors
 * (app/errors.py) that can reach a page. Where English is spoken the server's own sentence is better: it names
 * numbers and limits. It refuses to know what was being tried.
 */

import { say } from "../words.js";

/** Codes that have their word, failure_<code>, in the table `failures`. */
export const CODES = /** @type {const} */ ([
  "connection_lost", "engine_error", "engine_loading", "engine_lost", "forbidden", "not_found", "out_of_memory", "overloaded",
  "prompt_too_long", "rate_limited", "request_too_large", "server_shutdown", "slow_consumer", "unauthorized", "upstream_error",
]);

/** @typedef {{ code?: string | null, message?: string }} Told */

/** What went wrong, thrown: the server's error, or `connection_lost`. */
export class Failed extends Error {
  /** @param {Told} told */
  constructor({ code, message }) {
    super(message ?? "");
    this.code = code ?? "";
  }
}

/** @param {Told} told @param {string} [language] the page's @returns {string} */
export function sayFailure({ code, message }, language = document.documentElement.lang) {
  if (language === "en" && message) return message;
  const known = CODES.find((each) => each === code);
  return known ? say(`failure_${known}`) : say("failure_other", { code: code || "?" });
}

/** The same for whatever was caught: what fetch says is a lost connection. @param {unknown} error @returns {string} */
export function sayCaught(error) {
  if (error instanceof Failed) return sayFailure(error);
  const message = error instanceof Error ? error.message : "?";
  return sayFailure({ code: error instanceof TypeError ? "connection_lost" : message, message });
}
