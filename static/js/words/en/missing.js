/** Words of the page at an address where nothing is. @type {import("../../words.js").Table} */
export default {
  missingPageTitle: "Nothing here · Firstword",
  missingTitle: "Nothing to read here, and nothing will come",
  missingLead: "There is no page at this address. It may be mistyped, or the page has moved; all there is stands in the line at the top.",
  missingChat: "Go to the chat",
  missingJoin: "Join a class",
};
