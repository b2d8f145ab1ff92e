/** Words of one reply that a chat page needs from the start, in Hindi. @type {import("../../words.js").Table} */
export default {
  hold: "थामिए",
  holdEnd: "आगे बढ़िए",
  heldNote: "आपने इसे थामा है: जो आ रहा है वह रुका है, और मॉडल आपकी राह देख रहा है।",
  help: "कुंजियाँ और मदद",

  markToken: "टोकन-दर-टोकन",
  markSentence: "वाक्य-दर-वाक्य",
  markSmoothed: "समतल: बराबर गति से आने के लिए रोका गया",
  markSmoothedBy: "समतल: {mean} जोड़ा गया",
  markSlow: "धीमी गति, {rate} टोकन प्रति सेकंड",
  markInspect: "संभावनाओं के साथ",
  smoothingNote:
    "समतल करना जोड़ा हुआ इंतज़ार है: इस पन्ने ने पहला शब्द {first} रोका, और हर टुकड़ा औसतन {mean}, ज़्यादा से ज़्यादा {longest}।",
  waitsForReader: "मॉडल जितना बना सकता था बना चुका है, और इस पन्ने के दिखाने तक रुका है।",
  hadWaited: "मॉडल इस पाठक के लिए {time} रुका।",

  deeper: "समय कहाँ गया",
  fetchAgain: "पन्ने का एक हिस्सा नहीं मिल सका। फिर से कोशिश कीजिए।",
  notFetched: "पन्ने का यह हिस्सा नहीं मिल सका। इसे बंद करके फिर खोलिए।",
};
