/**
 * Runs before anything is painted, as a plain script: a dark room must not flash white, and a projector
 * must not start small.
 */
(() => {
  try {
    document.documentElement.dataset.theme = localStorage.getItem("firstword.theme") ?? "auto";
  } catch {
    document.documentElement.dataset.theme = "auto";
  }
})();
