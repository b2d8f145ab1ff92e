/** Words that every page says: the strip, the numbers, the connection. @type {import("../../words.js").Table} */
export default {
  tagline: "Feel the first word.",
  chatWith: "You are talking to {model}",
  theme: "Look",
  themeAuto: "System",
  themeLight: "Light",
  themeDark: "Dark",
  themeProjector: "Projector",

  send: "Send",
  stop: "Stop",
  delivery: "How the answer comes",
  streamed: "Streamed",
  whole: "All at once",
  streamedHint: "Each word is sent as soon as it is made (key T switches)",
  wholeHint: "The server sends the answer in one piece when it is finished (key T switches)",

  nothingYet: "nothing to read yet:",
  couldHaveRead: { one: "you could have read {count} word by now", other: "you could have read {count} words by now" },

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

  copy: "Copy",
  copied: "Copied",
  copyFailed: "Copying is not allowed here",
  copyCode: "Copy code",
  plainCode: "Code",

  reconnecting: "The connection is lost. Trying again …",
  overHttp: "WebSockets are blocked on this network. Answers come over plain HTTP instead.",
  loading: "The model is loading: {detail}",
  loadingPlain: "The model is loading",
  serverAway: "The server does not answer yet",
  sendWhenReady: "You can write already; your message is sent when the model is ready.",
};
