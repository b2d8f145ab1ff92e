/** Words of one reply that a chat page needs from the start. @type {import("../../words.js").Table} */
export default {
  hold: "Pause",
  holdEnd: "Go on",
  heldNote: "Paused by you: what arrives waits, and the model waits for you.",
  help: "Keys and help",

  markToken: "token by token",
  markSentence: "sentence by sentence",
  markSmoothed: "smoothed: held back to come evenly",
  markSmoothedBy: "smoothed: {mean} added",
  markSlow: "slow motion, {rate} tokens a second",
  markInspect: "with probabilities",
  smoothingNote:
    "Smoothing is added waiting: this page held the first word back for {first}, and each piece for {mean} on average, {longest} at most.",
  waitsForReader: "The model has made all it may and waits until this page has shown it.",
  hadWaited: "The model waited {time} for this reader.",

  deeper: "Where the time went",
  fetchAgain: "A part of this page could not be fetched. Please try again.",
  notFetched: "This part of the page could not be fetched. Close it and open it again.",
};
