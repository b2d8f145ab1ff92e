/** Words of the page at an address where nothing is, in Hindi. @type {import("../../words.js").Table} */
export default {
  missingPageTitle: "यहाँ कुछ नहीं · Firstword",
  missingTitle: "यहाँ पढ़ने को कुछ नहीं, और कुछ आएगा भी नहीं",
  missingLead: "इस पते पर कोई पन्ना नहीं है। शायद पता लिखने में चूक हुई, या पन्ना कहीं और चला गया; जो कुछ है, वह सबसे ऊपर की पंक्ति में है।",
  missingChat: "चैट पर जाइए",
  missingJoin: "कक्षा से जुड़िए",
};
