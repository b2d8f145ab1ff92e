/**
 * Every word the page says, in one table, so that another language is another table.
 * A text with `{name}` takes values; a text that counts has one form per plural category of
 * Intl.PluralRules. This module refuses to know where a word is shown.
 */

/** @typedef {string | { one?: string, other: string }} Text */

/** @type {Record<string, Text>} */
const ENGLISH = {
  tagline: "Feel the first word.",
  chatWith: "You are talking to {model}",
  newChat: "New chat",
  theme: "Look",
  themeAuto: "System",
  themeLight: "Light",
  themeDark: "Dark",
  themeProjector: "Projector",

  welcomeLead:
    "A language model makes its answer one token after another. Ask it something, flip the switch below, and ask again: the same work, but not the same wait.",
  legendTitle: "How to read the strip",
  legendWaiting: "hatched: nothing to read yet",
  legendTick: "a tick: text arrived, as tall as the words it brought",
  legendEnd: "a bar: the last word",
  legendReading: "the line below: reading along at 238 words a minute",
  starter1: "Why is the sky blue? Explain it to a ten-year-old.",
  starter2: "Write a short story about a lighthouse keeper.",
  starter3: "Give me five ideas for a rainy afternoon.",
  starters: "Something to begin with",

  conversation: "Conversation",
  you: "You asked",
  replyBy: "Reply, {mode}",
  prompt: "Your message",
  promptHint: "Ask something",
  send: "Send",
  stop: "Stop",
  delivery: "How the answer comes",
  streamed: "Streamed",
  whole: "All at once",
  streamedHint: "Each word is sent as soon as it is made (key T switches)",
  wholeHint: "The server sends the answer in one piece when it is finished (key T switches)",
  keys: "Enter sends · Shift + Enter: new line · T switches the delivery · Esc stops",

  nothingYet: "nothing to read yet:",
  couldHaveRead: { one: "you could have read {count} word by now", other: "you could have read {count} words by now" },
  sending: "sending",
  loadingFirst: "waiting for the model to load",
  inLine: "{count} before you in the line",
  nextInLine: "next in the line",
  readingPrompt: "the model is reading your message",
  writing: "the model is writing; nothing is sent before the last word",

  firstWord: "First word",
  gaps: "Gaps",
  gapsValue: "{median} median, {longest} longest",
  lastWord: "Last word",
  tokens: "Tokens",
  rate: "Tokens per second",
  firstWordFormula:
    "From your click on Send to the first frame in which text could be seen: time of the paint minus time of the click, both on this browser's clock.",
  gapsFormula:
    "Time between one arrival of text in this browser and the next: the middle one of all gaps, and the longest. One arrival has no gaps.",
  lastWordFormula:
    "From your click on Send until the last text was painted here: time of that paint minus time of the click.",
  tokensFormula: "Pieces that the model made for this answer, counted by the server (the one that ends it included).",
  rateFormula:
    "(tokens - 1) / (time the last token was made - time the first token was made), on the server's clock. Waiting for the first token is not in it.",
  seconds: "{value} s",
  milliseconds: "{value} ms",
  perSecond: "{value}/s",
  none: "–",
  stripLabel:
    "Time line of this reply. Nothing to read for {wait}, then {arrivals}, the last after {total}. Reading all of it takes about {reading}.",
  arrivals: { one: "one arrival of text", other: "{count} arrivals of text" },
  stripEmpty: "Time line of this reply. Nothing has arrived yet.",
  readingTakes: "reading it takes {time}",
  hiddenFlag: "This tab was hidden meanwhile: browsers paint late then, so these times are too long.",
  resumedFlag: "The page was loaded anew in mid-reply: the times before that are bridged by the computer's clock.",
  reconnectedFlag: "The connection was lost and found again in mid-reply.",

  copy: "Copy",
  copied: "Copied",
  copyFailed: "Copying is not allowed here",
  copyCode: "Copy code",
  retry: "Try again",
  again: "Ask again",
  newBelow: "New lines below",
  stopped: "Stopped by you.",
  cutOff: "The answer reached its limit of tokens and was cut off.",
  emptyReply: "The model ended its answer without a word.",
  interrupted: "Interrupted: {why}",
  keptText: "What had arrived is kept.",
  plainCode: "Code",

  reconnecting: "The connection is lost. Trying again …",
  notSaved: "This browser does not let the page save the conversation ({why}). Everything else works.",
  overHttp: "WebSockets are blocked on this network. Answers come over plain HTTP instead.",
  loading: "The model is loading: {detail}",
  loadingPlain: "The model is loading",
  serverAway: "The server does not answer yet",
  sendWhenReady: "You can write already; your message is sent when the model is ready.",
  startedSay: "The reply begins.",
  doneSay: { one: "The reply is complete: {count} word.", other: "The reply is complete: {count} words." },
  stoppedSay: "The reply was stopped.",
  failedSay: "The reply was interrupted.",
  nothingToResume: "The server no longer has this reply.",
};

const plural = new Intl.PluralRules("en");

/**
 * The text called `name` with its values filled in.
 * @param {string} name
 * @param {Record<string, string | number>} [values] `count` chooses the plural form
 * @returns {string}
 */
export function say(name, values = {}) {
  const text = ENGLISH[name];
  if (text === undefined) throw new Error(`no word for ${name}`);
  return formOf(text, values).replace(/\{(\w+)\}/g, (whole, key) => String(values[key] ?? whole));
}

/**
 * Fill a server-rendered page: `data-word` is an element's text, `data-word-<attribute>` an attribute.
 * @param {ParentNode} root
 */
export function fillWords(root) {
  for (const element of root.querySelectorAll("[data-word]")) {
    element.textContent = say(element.getAttribute("data-word") ?? "");
  }
  for (const attribute of ["aria-label", "title", "placeholder"]) {
    for (const element of root.querySelectorAll(`[data-word-${attribute}]`)) {
      element.setAttribute(attribute, say(element.getAttribute(`data-word-${attribute}`) ?? ""));
    }
  }
}

// Private

/**
 * @param {Text} text
 * @param {Record<string, string | number>} values
 */
function formOf(text, values) {
  if (typeof text === "string") return text;
  return plural.select(Number(values.count)) === "one" && text.one ? text.one : text.other;
}
