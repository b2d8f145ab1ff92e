/**
 * What the room's socket says, as types (docs/rooms-protocol.md is the contract), and one text frame
 * read: a broken or unknown one is passed over, never fatal. Pure.
 *
 * @typedef {"a" | "b"} LaneId
 * @typedef {"idle" | "predict" | "watch" | "vote" | "reveal" | "discuss" | "collect" | "sending" | "results"} Phase
 * @typedef {{ pace?: "token" | "word" | "sentence" | "whole", label?: string, delay_ms?: number, every_ms?: number,
 *   link?: Record<string, number> }} LanePlan
 * @typedef {{ at_ms: number, since_ms: number, speed: number }} At where the stimulus was, when, and how fast it goes on
 * @typedef {{ id: string, started_ms: number, state: "running" | "ended" | "failed" | "lost", message?: string, code?: string,
 *   first_text_ms: Partial<Record<LaneId, number>>, playhead: At, altered: boolean }} Stimulus
 * @typedef {{ ballots: number, could_vote: number, lanes: Record<string, number>, positions: Record<string, number>,
 *   excluded: Record<string, number>, decided: number, leader: string | null, leader_votes: number, low: number,
 *   high: number, p: number, verdict: "too_few" | "difference" | "no_difference", sentence: string,
 *   caveats: string[], one_order?: boolean, altered?: boolean, early?: boolean, felt_s?: Partial<Record<LaneId, number>> }} Results
 * @typedef {{ id: number, question: "faster" | "rather", ask_prediction: boolean, ask_felt: boolean, mirror: boolean,
 *   recording: string | null, prompt: string | null, lanes: Record<LaneId, LanePlan> | null,
 *   ballot: "predict" | "vote" | "revote" | null, stimulus: Stimulus | null, catch?: boolean,
 *   predicted?: Record<string, number>, results?: Results | null, revote_results?: Results | null,
 *   hands_results?: Results | null, both_ways_results?: Results | null,
 *   closes: "hand" | "nine_of_ten" | "clock", closes_ms: number | null, speed: number, order?: "ab" | "ba", voted?: number, could_vote?: number,
 *   first_word_ms?: Record<LaneId, { server_ms: number | null, phones_ms: number[] }>,
 *   plan?: Record<string, any>, hands?: { first: number, second: number, same: number } | null }} Round
 * @typedef {{ id: number, mode: "batched" | "one_at_a_time" | "own_time", prompt: string | null, max_tokens: number,
 *   num_line: number, started_ms: number | null, num_prompts?: number, num_started?: number, num_failed?: number,
 *   num_measured?: number, distribution?: [number, number | null][], server_first_ms?: number[],
 *   prompts?: Record<string, string>, failures?: Record<string, string> }} Sending
 * @typedef {{ number: number, nickname: string, approved: boolean, online: boolean }} Person
 * @typedef {{ type: "room", epoch: string, revision: number, code: string, title: string, phase: Phase, closed: boolean,
 *   frozen: boolean, blank: boolean, hands_only: boolean, host_online: boolean, round: Round | null,
 *   sending: Sending | null, spotlight: { number: number, nickname: string | null, text: string } | null,
 *   class_size: number, count?: number | null, hide_count?: boolean, wall_token?: string, participants?: Person[],
 *   rounds?: { id: number, catch: boolean, flip: boolean, sentence: string | null }[], num_sendings?: number }} Room
 * @typedef {{ type: "me", number: number, nickname: string, approved: boolean, watcher: boolean,
 *   card: { order: "ab" | "ba", predict?: string | null, vote?: string | null, revote?: string | null } | null,
 *   sending: { prompt: string | null, place: number | null, reply: string | null, running: boolean, failure: string | null, failure_code?: string | null,
 *     measure: { first_word_ms: number } | null } | null }} Me
 * @typedef {{ type: "text", stimulus: string, lane: LaneId, seq: number, pieces: number, text: string, tokens: number,
 *   t: number, end?: "stop" | "length" | "cancelled" | "failed" }} Text
 * @typedef {{ type: "line", sending: number, begun: number, ended: number }} Line
 * @typedef {{ type: "engine", batch: number, waiting: number, paused: number, step_ms: number }} EngineStep
 * @typedef {{ type: "welcome", role: string, number: number | null, epoch: string, t: number }} Welcome
 * @typedef {{ type: "pong", t: number, echo: number | null }} Pong
 * @typedef {{ type: "error", code: string, message: string, retryable: boolean, param: string | null, about: string }} Refusal
 * @typedef {Room | Me | Text | Line | EngineStep | Welcome | Pong | Refusal | { type: "ping", t: number }} RoomFrame
 */

const KNOWN = new Set(["room", "me", "text", "line", "engine", "welcome", "pong", "error", "ping"]);

/** @param {unknown} data a WebSocket message @returns {RoomFrame | null} */
export function readRoomFrame(data) {
  if (typeof data !== "string") return null;
  try {
    const frame = JSON.parse(data);
    return KNOWN.has(frame?.type) ? frame : null;
  } catch {
    return null;
  }
}
