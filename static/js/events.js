/**
 * The vocabulary of the wire, as types: what app/events.py sends and what the page sends back.
 * Only types live here; frames are checked where they arrive (stream/frames.js).
 *
 * @typedef {{ type: "queued", reply: string, position: number, t: number, id?: string }} Queued
 * @typedef {{ type: "started", reply: string, model: string, prompt_tokens: number, cached_tokens: number,
 *   t: number, id?: string, recovered?: boolean }} Started
 * @typedef {{ type: "delta", reply: string, seq: number, text: string, tokens: number, t: number,
 *   info?: TokenInfo[], released?: number }} Delta `released`: in a first delta, when its pace let it go
 * @typedef {{ token_id: number, data: string, logprob: number, top?: [number, string, number][] }} TokenInfo
 *   bytes in base64
 * @typedef {{ type: "paused" | "resumed", reply: string, reason: string, t: number }} Paused
 * @typedef {{ prompt_tokens: number, completion_tokens: number, total_tokens: number,
 *   cached_tokens: number }} Usage
 * @typedef {{ queue_ms: number | null, prefill_ms: number | null, first_token_ms: number | null,
 *   decode_ms: number | null, paused_ms: number, total_ms: number }} Timings
 * @typedef {{ type: "done", reply: string, seq: number, finish_reason: string, usage: Usage,
 *   timings: Timings, t: number, id?: string }} Done
 * @typedef {{ type: "error", code: string, message: string, retryable: boolean, reply?: string, id?: string,
 *   param?: string }} Failure
 * @typedef {{ type: "ping", t: number }} Ping
 * @typedef {{ type: "pong", t: number, echo?: number, reply?: string }} Pong
 * @typedef {Queued | Started | Delta | Paused | Done | Failure | Ping | Pong} ServerEvent
 *
 * @typedef {{ role: "system" | "user" | "assistant", content: string }} Message
 * @typedef {"token" | "word" | "sentence" | "whole"} Pace
 * @typedef {{ type: "start", id: string, messages: Message[], pace: Pace, acks: boolean,
 *   continue_last?: boolean }} Start
 * @typedef {{ type: "attach", reply: string, after: number, pace: Pace, acks: boolean }} Attach
 * @typedef {{ type: "stop", reply: string }} Stop
 * @typedef {{ type: "ack", reply: string, seq: number }} Ack
 * @typedef {Start | Attach | Stop | Ack | { type: "ping", t: number, reply?: string }} ClientFrame
 */

export {};
