/** Words of the chat page alone. @type {import("../../words.js").Table} */
export default {
  newChat: "New chat",

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
  keys: "Enter sends · Shift + Enter: new line · T switches the delivery · Esc stops",

  sending: "sending",
  loadingFirst: "waiting for the model to load",
  inLine: "{count} before you in the line",
  nextInLine: "next in the line",
  readingPrompt: "the model is reading your message",
  writing: "the model is writing; nothing is sent before the last word",

  resumedFlag: "The page was loaded anew in mid-reply: the times before that are bridged by the computer's clock.",
  reconnectedFlag: "The connection was lost and found again in mid-reply.",

  retry: "Try again",
  again: "Ask again",
  newBelow: "New lines below",
  stopped: "Stopped by you.",
  cutOff: "The answer reached its limit of tokens and was cut off.",
  emptyReply: "The model ended its answer without a word.",
  interrupted: "Interrupted: {why}",
  keptText: "What had arrived is kept.",

  notSaved: "This browser does not let the page save the conversation ({why}). Everything else works.",
  startedSay: "The reply begins.",
  doneSay: { one: "The reply is complete: {count} word.", other: "The reply is complete: {count} words." },
  stoppedSay: "The reply was stopped.",
  failedSay: "The reply was interrupted.",
  nothingToResume: "The server no longer has this reply.",
};
