/**
 * What a crowd's news says (POST /api/lab/users), gathered for a picture: for each user the waiting, the
 * steps that worked for it and its end; for each step, how many it served and how long it took. Pure.
 *
 * @typedef {{ number: number, arrives_ms: number, prompt_words: number, answer_tokens: number }} User
 * @typedef {{ type: "user", number: number, what: string, t: number, row: number, tokens: number }} News
 * @typedef {{ type: "totals", answered: number, failed: number, first_p50_ms: number | null, first_p95_ms: number | null,
 *   gap_p50_ms: number | null, gap_most_ms: number | null, tokens: number, total_ms: number, tokens_per_second: number }} Totals
 * @typedef {{ type: "plan", users: User[] } | News | Totals | import("./steps.js").Step} Item
 * @typedef {{ from_ms: number, to_ms: number }} Span
 * @typedef {{ user: User, arrived_ms: number | null, first_ms: number | null, ended_ms: number | null, failed: boolean,
 *   prefill: Span[], decode: Span[], ahead: Span[] }} Row `ahead`: behind its end, for a next question
 * @typedef {{ t: number, ms: number, served: number, numWriting: number, withPrefill: boolean }} Dot one engine step that worked on answers
 */

/** Steps of one kind that follow each other this closely are one bar to the eye. */
const JOIN_MS = 12;
/** Dots of one picture; more hide each other. */
const MAX_DOTS = 3000;

export class UsersChart {
  /** @type {Row[]} */
  rows = [];
  /** @type {Dot[]} */
  dots = [];
  /** @type {Totals | null} */
  totals = null;
  now_ms = 0;
  /** @type {Map<number, Row>} */
  #byStepRow = new Map();

  /** @param {Item} item */
  hear(item) {
    switch (item.type) {
      case "plan":
        this.rows = item.users.map((user) => ({ user, arrived_ms: null, first_ms: null, ended_ms: null, failed: false, prefill: [], decode: [], ahead: [] }));
        break;
      case "user":
        this.#hearUser(item);
        break;
      case "step":
        this.#hearStep(item);
        break;
      case "totals":
        this.totals = item;
    }
  }

  // Private

  /** @param {News} news */
  #hearUser({ number, what, t, row: stepRow }) {
    const row = this.rows[number - 1];
    if (!row) return;
    this.now_ms = Math.max(this.now_ms, t);
    if (what === "arrived") row.arrived_ms = t;
    if (what === "admitted") this.#byStepRow.set(stepRow, row);
    if (what === "first") row.first_ms = t;
    if (what === "ended" || what === "failed") row.ended_ms = t;
    row.failed ||= what === "failed";
  }

  /** @param {import("./steps.js").Step} step */
  #hearStep({ t, ms, steps, rows }) {
    this.now_ms = Math.max(this.now_ms, t + ms);
    for (const [stepRow, phase] of rows) {
      const row = this.#byStepRow.get(stepRow);
      if (row) join(row[phase], { from_ms: t, to_ms: t + ms });
    }
    // Merged steps would be one dot with the time of several.
    if (steps !== 1 || this.dots.length >= MAX_DOTS) return;
    const phases = rows.map(([, phase]) => phase);
    const served = phases.filter((phase) => phase !== "ahead").length;
    // A step that only reads ahead serves nobody and is felt by nobody.
    if (phases.length && !served) return;
    const numWriting = phases.filter((phase) => phase === "decode").length;
    this.dots.push({ t, ms, served, numWriting, withPrefill: numWriting < served });
  }
}

/** When a user began to be worked for, or null. @param {Row} row */
export function begunAt({ prefill, decode }) {
  const starts = [prefill[0], decode[0]].flatMap((span) => (span ? [span.from_ms] : []));
  return starts.length ? Math.min(...starts) : null;
}

// Private

/** @param {Span[]} spans @param {Span} next */
function join(spans, next) {
  const last = spans.at(-1);
  if (last && next.from_ms - last.to_ms <= JOIN_MS) last.to_ms = Math.max(last.to_ms, next.to_ms);
  else spans.push({ ...next });
}
