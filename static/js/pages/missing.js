/** The page at an address where nothing is: its words, the look, the language. Nothing is decided here. */

import { mountLanguage } from "../components/language.js";
import { part } from "../components/parts.js";
import { mountTheme } from "../components/theme.js";
import { fillWords, speak } from "../words.js";

await speak(["common", "missing"]);
fillWords(document);
mountTheme(part(document.body, "theme", HTMLSelectElement));
mountLanguage(part(document.body, "language", HTMLSelectElement));
document.body.dataset.state = "ready";
