/** When something was, as one says it: "5 minutes ago", "yesterday", later the date. Pure: the time now
 * and the language are handed in. */

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** @param {number} then_epoch_ms @param {number} now_epoch_ms @param {string} language @returns {string} */
export function spellAgo(then_epoch_ms, now_epoch_ms, language) {
  const ago_ms = Math.max(0, now_epoch_ms - then_epoch_ms);
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  if (ago_ms < MINUTE_MS) return relative.format(0, "second");
  const days = Math.round((startOfDay(now_epoch_ms) - startOfDay(then_epoch_ms)) / DAY_MS);
  if (days >= 7) return new Intl.DateTimeFormat(language, { day: "numeric", month: "short", year: "numeric" }).format(then_epoch_ms);
  if (days >= 1) return relative.format(-days, "day");
  if (ago_ms < HOUR_MS) return relative.format(-Math.floor(ago_ms / MINUTE_MS), "minute");
  return relative.format(-Math.floor(ago_ms / HOUR_MS), "hour");
}

// Private

/** @param {number} epoch_ms */
const startOfDay = (epoch_ms) => new Date(epoch_ms).setHours(0, 0, 0, 0);
