/** Words of the projector's page, in Hindi. @type {import("../../words.js").Table} */
export default {
  lobbyLead: "अपना कैमरा यहाँ दिखाइए, या इस पते पर जाइए",
  lobbyHere: "यह पता केवल इसी मशीन पर चलता है। फ़ोनों के लिए सर्वर को --lan के साथ चलाइए।",
  lobbyHands: "आज हाथ उठाकर: फ़ोन नहीं चाहिए।",
  qrLabel: "{address} का QR कोड",
  countHere: { one: "{count} फ़ोन जुड़ा है", other: "{count} फ़ोन जुड़े हैं" },
  joinLine: "{address} · {code}",

  votedOf: "{of} में से {voted} ने वोट दिया",
  handsUp: "हाथ उठाइए। आँखें बंद हों तो और निष्पक्ष।",
  watchQuiet: "दोनों को देखिए। दोनों के पूरा होने तक कोई न बोले।",
  paintedTitle: "पहला शब्द, जैसा हर फ़ोन ने दिखाया",

  collectTitle: "अपने फ़ोन पर एक सवाल लिखिए",
  collectCommon: "सब यह सवाल भेजेंगे",
  collectCount: { one: "सवाल आया", other: "सवाल आए" },
  sending_batched: "अब सब एक साथ भेजते हैं",
  sending_one_at_a_time: "अब सब भेजते हैं, एक बार में एक जवाब",
  sending_own_time: "जब चाहें तब भेजिए",
  numberLine: "क़तार में",
  numberBegun: "शुरू हुए",
  numberEnded: "पूरे हुए",
  numberBatch: "एक क़दम में जवाब, ज़्यादा से ज़्यादा {most}",
  numberStep: "एक क़दम का समय",
  numberMeasured: "फ़ोनों ने नापा",

  wallLostTitle: "इस पर्दे को प्रवेश नहीं मिला",
  wallLostText: "इसे शिक्षक के पन्ने से फिर खोलिए।",
  wallGoneTitle: "यह कक्षा समाप्त हुई",
  wallGoneText: "इसमें कही गई हर बात एक दिन के भीतर मिटा दी जाती है।",
  spotlightWho: "नंबर {number} से",
  spotlightNamed: "{name} से",
};
