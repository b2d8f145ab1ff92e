/**
 * The lab's pages: the list, or one experiment, whose module is loaded by its name (what is there to be
 * read only has none). Nothing is decided here.
 */

import { mountLanguage } from "../components/language.js";
import { mountTheme } from "../components/theme.js";
import { part } from "../components/parts.js";
import { fillWords, say, speak } from "../words.js";

/** @type {Record<string, () => Promise<{ mount: (page: HTMLElement) => Promise<void> }>>} */
const EXPERIMENTS = {
  batching: () => import("../components/lab_batching.js"),
  backpressure: () => import("../components/lab_backpressure.js"),
  proxy: () => import("../components/lab_proxy.js"),
  protocols: () => import("../components/lab_protocols.js"),
  apart: () => import("../components/lab_apart.js"),
};

const page = document.body;
const name = page.dataset.experiment ?? "";
await speak(["common", "failures", "lab", ...(name ? [`lab_${name}`] : [])]);
fillWords(document);
if (name) document.title = `${say(`${name}Title`)} · Firstword`;
mountTheme(part(page, "theme", HTMLSelectElement));
mountLanguage(part(page, "language", HTMLSelectElement));
if (name) await (await EXPERIMENTS[name]?.())?.mount(page);
page.dataset.state = "ready";
