/**
 * Rounds that a teacher may want, as plans of the room's protocol. The lesson's order is: a vote, the
 * same with the order turned round, a catch round. Pure.
 *
 * @typedef {"usual" | "turned" | "catch"} Kind
 * @typedef {"whole" | "sentence" | "word" | "delayed"} Rival what lane b is; lane a always streams
 * @typedef {{ kind: Kind, rival: Rival, prompt: string, recording: string, question: "faster" | "rather",
 *   askPrediction: boolean, askFelt: boolean, mirror: boolean, maxTokens: number }} Wishes
 */

/** @type {readonly Kind[]} */
export const KINDS = ["usual", "turned", "catch"];
/** @type {readonly Rival[]} */
export const RIVALS = ["whole", "sentence", "word", "delayed"];
/** How much later every piece of the delayed lane comes. */
export const DELAY_MS = 1500;

/**
 * @param {Wishes} wishes
 * @param {(rival: Rival | "streamed") => string} labelOf
 * @returns {Record<string, unknown>} a plan for `open_round`
 */
export function roundPlan({ kind, rival, prompt, recording, question, askPrediction, askFelt, mirror, maxTokens }, labelOf) {
  const other = rival === "delayed" ? { pace: "token", delay_ms: DELAY_MS } : { pace: rival };
  return {
    ...(recording ? { recording } : { prompt: prompt.trim(), max_tokens: maxTokens }),
    lanes: [{ pace: "token", label: labelOf("streamed") }, { ...other, label: labelOf(rival) }],
    question, ask_prediction: askPrediction, ask_felt: askFelt, mirror,
    catch: kind === "catch", flip: kind === "turned",
  };
}

/** What comes next in the lesson. @param {{ catch: boolean, flip: boolean }[]} past rounds that were kept @returns {Kind} */
export function nextKind(past) {
  const turned = past.some(({ flip }) => flip);
  if (past.length === 0) return "usual";
  if (!turned) return "turned";
  return past.some((round) => round.catch) ? "usual" : "catch";
}
