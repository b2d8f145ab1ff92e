/** Words of the projector's page. @type {import("../../words.js").Table} */
export default {
  lobbyLead: "Point your camera here, or go to",
  lobbyHere: "This address works on this machine only. For phones, start the server with --lan.",
  lobbyHands: "Hands today: no phones needed.",
  qrLabel: "QR code of {address}",
  countHere: { one: "{count} phone is here", other: "{count} phones are here" },
  joinLine: "{address} · {code}",

  votedOf: "{voted} of {of} have voted",
  handsUp: "Hands up. Eyes closed is fairer.",
  watchQuiet: "Watch both. Nobody speaks until both are done.",
  paintedTitle: "First word, as each phone painted it",

  collectTitle: "Write a question on your phone",
  collectCommon: "Everybody sends this question",
  collectCount: { one: "question is in", other: "questions are in" },
  sending_batched: "Everybody sends now",
  sending_one_at_a_time: "Everybody sends now, one answer at a time",
  sending_own_time: "Send when you like",
  numberLine: "in the line",
  numberBegun: "begun",
  numberEnded: "done",
  numberBatch: "answers in one step, at most {most}",
  numberStep: "a step takes",
  numberMeasured: "phones measured",

  wallLostTitle: "This wall is not let in",
  wallLostText: "Open it again from the teacher's console.",
  wallGoneTitle: "This room is over",
  wallGoneText: "Everything that was said in it is deleted within a day.",
  spotlightWho: "From number {number}",
  spotlightNamed: "From {name}",
};
