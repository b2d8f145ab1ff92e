/**
 * A reply token by token: each a chip, as wide as its text, with a bar for how sure the model was. The
 * chosen chip tells its number, bytes, probability, the alternatives and the gap before it. Tokens that
 * make one sign only together stand in one frame. Arrow keys walk; one chip is in the tab order.
 *
 * @typedef {import("../measure/token_bytes.js").SeenToken} SeenToken
 */

import { spellTime } from "../measure/spelling.js";
import { bytesOf, clustersOf, spellBytes, textOf, visible } from "../measure/token_bytes.js";
import { say } from "../words.js";
import { element } from "./parts.js";

/** Chips are many elements; so many at a time keep the page quick. */
const AT_A_TIME = 300;
let panels = 0;

/** @param {import("../chat/reply.js").Reply} reply that has been inspected @returns {HTMLElement} */
export function tokenInspector({ seen = [], settings }) {
  const chips = element("div", "chips");
  chips.setAttribute("role", "group");
  chips.setAttribute("aria-label", say("tokensShown"));
  const panel = element("div", "token-panel");
  panel.id = `token-${(panels += 1)}`;
  const clusters = clustersOf(seen);
  let shown = 0;
  const more = element("button", "quiet");
  more.setAttribute("type", "button");
  const showMore = () => {
    const first = shown;
    for (const until = shown + AT_A_TIME; shown < clusters.length && shown < until; shown += 1) {
      chips.append(clusterOf(seen, /** @type {import("../measure/token_bytes.js").Cluster} */ (clusters[shown])));
    }
    more.hidden = shown >= clusters.length;
    more.textContent = say("moreTokens", { count: clusters.length - shown });
    if (first > 0) chips.querySelectorAll(".cluster")[first]?.querySelector("button")?.focus();
  };
  showMore();
  more.addEventListener("click", showMore);
  walk(chips, (chip) => describe(chip, panel, seen));
  return element("section", "inspector", element("h3", "", say("inspectorTitle", { count: seen.length })),
    element("p", "deeper-small", say(settings?.pace === "token" ? "inspectorHint" : "inspectorHintPace")), chips, more, panel);
}

// Private

/** @param {SeenToken[]} seen @param {import("../measure/token_bytes.js").Cluster} cluster */
function clusterOf(seen, { text, from, count }) {
  const chips = seen.slice(from, from + count).map((token, i) => chipOf(token, from + i, seen.length));
  if (count === 1) return element("span", "cluster", ...chips);
  return element("span", "cluster joined", ...chips, element("span", "cluster-text", say("together", { text: visible(text ?? "") })));
}

/** @param {SeenToken} token @param {number} place @param {number} of */
function chipOf(token, place, of) {
  const bytes = bytesOf(token.data);
  const name = nameOf(token);
  const chance = Math.exp(token.logprob);
  const bar = element("span", "chip-bar");
  bar.dataset.tenths = String(Math.round(chance * 10));
  const chip = element("button", bytes.length && textOf(bytes) === null ? "chip part" : "chip", name, bar);
  chip.setAttribute("type", "button");
  chip.setAttribute("aria-label", say("chipLabel", { place: place + 1, of, text: name, chance: percent(chance) }));
  chip.dataset.place = String(place);
  chip.tabIndex = place === 0 ? 0 : -1;
  return chip;
}

/** @param {HTMLElement} chips @param {(chip: HTMLElement) => void} choose */
function walk(chips, choose) {
  /** @param {EventTarget | null} target @returns {HTMLElement | null} */
  const chipAt = (target) => (target instanceof Element ? target.closest(".chip") : null);
  chips.addEventListener("focusin", ({ target }) => {
    const chip = chipAt(target);
    if (!chip) return;
    for (const other of chips.querySelectorAll('.chip[tabindex="0"]')) /** @type {HTMLElement} */ (other).tabIndex = -1;
    chip.tabIndex = 0;
    choose(chip);
  });
  chips.addEventListener("pointerdown", ({ target }) => chipAt(target)?.focus());
  chips.addEventListener("keydown", (event) => {
    const all = /** @type {HTMLElement[]} */ (Array.from(chips.querySelectorAll(".chip")));
    const at = all.indexOf(/** @type {HTMLElement} */ (chipAt(event.target)));
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1, ArrowDown: at + 10, ArrowUp: at - 10, Home: 0, End: all.length - 1 };
    if (!Object.hasOwn(steps, event.key)) return;
    event.preventDefault();
    all[Math.max(0, Math.min(all.length - 1, steps[/** @type {"Home"} */ (event.key)]))]?.focus();
  });
}

/** @param {HTMLElement} chip @param {HTMLElement} panel @param {SeenToken[]} seen */
function describe(chip, panel, seen) {
  const place = Number(chip.dataset.place);
  const token = /** @type {SeenToken} */ (seen[place]);
  for (const other of document.querySelectorAll(`[aria-describedby="${panel.id}"]`)) other.removeAttribute("aria-describedby");
  chip.setAttribute("aria-describedby", panel.id);
  const facts = element("dl", "facts");
  for (const [name, value] of [
    ["tokenId", String(token.id)],
    ["tokenBytes", `${spellBytes(bytesOf(token.data))} (${nameOf(token)})`],
    ["tokenChance", percent(Math.exp(token.logprob))],
    ["tokenGap", gapBefore(token, seen[place - 1])],
  ]) facts.append(element("dt", "", say(/** @type {string} */ (name))), element("dd", "", /** @type {string} */ (value)));
  const others = token.top.filter(([id]) => id !== token.id);
  const list = element("ol", "alternatives", ...others.map(([id, data, logprob]) =>
    element("li", "", element("code", "", nameOf({ data })), ` ${percent(Math.exp(logprob))} · ${id}`)));
  panel.replaceChildren(facts, element("p", "deeper-small", say(others.length ? "instead" : "noAlternatives")), list);
}

/** @param {SeenToken} token @param {SeenToken | undefined} before */
function gapBefore(token, before) {
  if (!before) return say("firstToken");
  return token.t === before.t ? say("sentTogether") : spellTime(token.t - before.t);
}

/** @param {{ data: string }} token @returns {string} its text, or its bytes where they are no text */
function nameOf({ data }) {
  const bytes = bytesOf(data);
  if (bytes.length === 0) return say("tokenNoText");
  const text = textOf(bytes);
  return text === null ? spellBytes(bytes) : visible(text);
}

/** @param {number} chance */
function percent(chance) {
  const value = chance * 100;
  return say("percent", { value: value >= 99.95 ? "100" : value >= 10 ? value.toFixed(0) : value.toFixed(value >= 1 ? 1 : 2) });
}
