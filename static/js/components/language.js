/**
 * The page's language as a choice. It is kept where the next page looks before it paints anything
 * (pages/first_look.js), and in a cookie for the one page whose text the server writes, the lesson.
 * Then the page is loaded anew: a page says its words once, and what was being talked about is kept
 * by whoever keeps it. This refuses to know the words.
 */

import { remember } from "../remembered.js";

const YEAR_S = 365 * 24 * 3600;

/** @param {HTMLSelectElement} select one option for each language that words.js knows */
export function mountLanguage(select) {
  select.value = document.documentElement.lang;
  select.addEventListener("change", () => {
    remember("language", select.value);
    document.cookie = `firstword_language=${select.value}; Path=/; Max-Age=${YEAR_S}; SameSite=Lax`;
    startAnew();
  });
}

// Private

/** A link may have asked for a language by ?lang=; the choice made by hand is the newer wish. */
function startAnew() {
  const address = new URL(location.href);
  if (!address.searchParams.has("lang")) return location.reload();
  address.searchParams.delete("lang");
  location.replace(address);
}
