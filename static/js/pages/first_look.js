/**
 * Runs before anything is painted, as a plain script: a dark room must not flash white, a projector must
 * not start small, and the page's language is settled once, for every module that speaks.
 */
(() => {
  const root = document.documentElement;
  /** @param {string} name */
  const kept = (name) => {
    try {
      return localStorage.getItem(`firstword.${name}`);
    } catch {
      return null;
    }
  };
  root.dataset.theme = kept("theme") ?? "auto";
  const language = kept("language") ?? navigator.language.slice(0, 2);
  root.lang = language === "hi" ? "hi" : "en";
})();
