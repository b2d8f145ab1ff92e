/**
 * How a reply is asked for: sampling, length, pace, system prompt. One frozen-looking record goes with
 * every reply, so that what was asked stays known; null means that the server decides. Reading is by
 * allow-list, because settings come from links and files as well as from our own panel. Pure.
 *
 * @typedef {"token" | "word" | "sentence"} SteppedPace
 * @typedef {object} Settings
 * @property {SteppedPace} pace how a streamed reply is cut into pieces
 * @property {boolean} smoothed even out the arrivals in the page, at the price of added latency
 * @property {number | null} tokens_per_second slow motion
 * @property {string} system the system prompt; "" is none
 * @property {number | null} max_tokens
 * @property {number | null} temperature
 * @property {number | null} top_p
 * @property {number | null} top_k
 * @property {number | null} min_p
 * @property {number | null} repetition_penalty
 * @property {number | null} seed
 * @property {boolean} inspect ask for every token's id, bytes and probability
 * @typedef {{ low: number, high: number, whole: boolean }} Limit
 * @typedef {"tokens_per_second" | "max_tokens" | "temperature" | "top_p" | "top_k" | "min_p" |
 *   "repetition_penalty" | "seed"} NumberName
 */

/** @type {SteppedPace[]} */
export const PACES = ["token", "word", "sentence"];
export const MAX_SYSTEM_CHARS = 8000;
/** As many alternatives a token as the inspector shows. */
const ALTERNATIVES = 5;

/** The server's own limits (app/intake/prompt.py); a seed only as large as a JSON number is exact. */
export const LIMITS = /** @type {Record<NumberName, Limit>} */ ({
  max_tokens: { low: 1, high: 1024, whole: true },
  temperature: { low: 0, high: 2, whole: false },
  top_p: { low: 0, high: 1, whole: false },
  top_k: { low: 0, high: 1_000_000, whole: true },
  min_p: { low: 0, high: 1, whole: false },
  repetition_penalty: { low: 0.1, high: 10, whole: false },
  seed: { low: 0, high: Number.MAX_SAFE_INTEGER, whole: true },
  tokens_per_second: { low: 0.1, high: 1000, whole: false },
});

export const NUMBERS = /** @type {NumberName[]} */ (Object.keys(LIMITS));

/** @returns {Settings} nothing chosen: the server's defaults, streamed word by word */
export const plainSettings = () => ({
  pace: "word", smoothed: false, tokens_per_second: null, system: "", max_tokens: null, temperature: null,
  top_p: null, top_k: null, min_p: null, repetition_penalty: null, seed: null, inspect: false,
});

/**
 * The fields of a `start` frame. The pace is not among them (resuming needs it too), and the system
 * prompt is a message.
 * @param {Settings | undefined} settings
 * @returns {Partial<Record<NumberName | "logprobs", number>>}
 */
export function wireSettings(settings) {
  /** @type {Partial<Record<NumberName | "logprobs", number>>} */
  const fields = {};
  if (!settings) return fields;
  for (const name of NUMBERS) {
    const value = settings[name];
    if (value !== null) fields[name] = value;
  }
  if (settings.inspect) fields.logprobs = ALTERNATIVES;
  return fields;
}

/** @param {NumberName} name @param {unknown} value @returns {boolean} */
export function isWithin(name, value) {
  const { low, high, whole } = LIMITS[name];
  return typeof value === "number" && value >= low && value <= high && (!whole || Number.isInteger(value));
}

/**
 * What somebody typed into a number's field.
 * @param {NumberName} name @param {string} text
 * @returns {{ value: number | null } | { wrong: true }} null: left empty
 */
export function readNumber(name, text) {
  const trimmed = text.trim().replace(",", ".");
  if (trimmed === "") return { value: null };
  const value = Number(trimmed);
  return isWithin(name, value) ? { value } : { wrong: true };
}

/**
 * Settings from a link or a file: what is known and within its limits is taken, the rest is named.
 * @param {unknown} raw
 * @returns {{ settings: Settings, refused: string[] }} refused: names of fields that were not taken
 */
export function readSettings(raw) {
  const settings = plainSettings();
  /** @type {string[]} */
  const refused = [];
  if (typeof raw !== "object" || raw === null) return { settings, refused };
  for (const [name, value] of Object.entries(raw)) {
    if (!take(settings, name, value)) refused.push(name.slice(0, 40));
  }
  return { settings, refused };
}

/** @param {Settings} settings @returns {Partial<Settings>} only what differs from the plain ones */
export function chosenSettings(settings) {
  const plain = plainSettings();
  const names = /** @type {(keyof Settings)[]} */ (Object.keys(plain));
  return Object.fromEntries(names.filter((name) => settings[name] !== plain[name]).map((name) => [name, settings[name]]));
}

// Private

/** @param {Settings} settings @param {string} name @param {unknown} value @returns {boolean} whether it was taken */
function take(settings, name, value) {
  const known = Object.hasOwn(settings, name);
  if (known && value === null && Object.hasOwn(LIMITS, name)) return true;
  const good =
    known &&
    (Object.hasOwn(LIMITS, name) ? isWithin(/** @type {NumberName} */ (name), value)
      : name === "pace" ? PACES.includes(/** @type {SteppedPace} */ (value))
      : name === "system" ? typeof value === "string" && value.length <= MAX_SYSTEM_CHARS
      : typeof value === "boolean");
  if (good) Object.assign(settings, { [name]: value });
  return good;
}
