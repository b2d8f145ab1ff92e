/**
 * The wires of the protocols experiment, each reading the same reply: how it is asked for, and what
 * stands around its bytes. A wire that breaks is a result and no failure.
 */

import { httpAddress, socketAddress } from "../stream/address.js";
import { LineParser } from "../stream/ndjson_parser.js";
import { readText, refusalOf } from "../stream/one_request.js";
import { POLL_EVERY_MS } from "../stream/polling_wire.js";
import { HEARING, chunkAround, frameHead, headBytes } from "./raw_wire.js";

/**
 * @typedef {import("./raw_wire.js").RawWire} RawWire
 * @typedef {{ page: string, reply: string, poller: string, signal: AbortSignal }} Asked
 * @typedef {(wire: RawWire, asked: Asked) => Promise<void>} Reading
 */

/** @type {Record<string, Reading>} */
const WIRES = {
  socket: readSocket,
  sse: (wire, asked) => readBody(wire, asked, "text/event-stream"),
  ndjson: (wire, asked) => readBody(wire, asked, "application/x-ndjson"),
  plain: (wire, asked) => readBody(wire, asked, "text/plain"),
  polling: readPolls,
  whole: readWhole,
  grpc: readGrpc,
};

/** Read it to its end on one wire, however it ends. @param {string} name @param {RawWire} wire @param {Asked} asked */
export async function readOn(name, wire, asked) {
  let message = "";
  try {
    await WIRES[name]?.(wire, asked);
  } catch (error) {
    message = error instanceof Error ? error.message : "";
  }
  if (wire.end.kind === "waiting") wire.end = { kind: "broken", message };
}

/** The wires that this server has: gRPC only where it was switched on. @param {string} page @returns {Promise<string[]>} */
export async function wiresOf(page) {
  const response = await fetch(httpAddress(page, "api/lab/wires"));
  const { grpc } = response.ok ? await response.json() : { grpc: false };
  return Object.keys(WIRES).filter((name) => name !== "grpc" || grpc);
}

// Private

/** @type {Reading} */
function readSocket(wire, { page, reply, signal }) {
  return new Promise((resolve) => {
    const socket = new WebSocket(socketAddress(page));
    signal.addEventListener("abort", () => socket.close(), { once: true });
    socket.onopen = () => socket.send(JSON.stringify({ type: "attach", reply, after: 0, pace: "token", acks: false }));
    socket.onmessage = ({ data }) => {
      const bytes = new TextEncoder().encode(data);
      wire.keep(bytes);
      wire.frameBytes += frameHead(bytes.length);
      wire.hear(data);
      if (wire.end.kind !== "waiting") socket.close();
    };
    socket.onclose = () => resolve();
  });
}

/** @param {RawWire} wire @param {Asked} asked @param {string} accept */
async function readBody(wire, asked, accept) {
  const hear = HEARING[accept]?.(wire);
  const decoder = new TextDecoder();
  const response = await fetch(address(asked), { headers: { accept }, signal: asked.signal, cache: "no-store" });
  if (!response.ok || !response.body) return void (wire.end = await said(response));
  wire.frameBytes += headBytes(response);
  const reader = response.body.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    if (!value) continue;
    wire.keep(value);
    wire.frameBytes += chunkAround(value.length);
    hear?.(decoder.decode(value, { stream: true }));
  }
  if (wire.end.kind === "waiting") wire.end = { kind: "silent", message: "" };
}

/** @type {Reading} */
async function readPolls(wire, asked) {
  const poller = asked.poller ? `&poller=${encodeURIComponent(asked.poller)}` : "";
  while (wire.end.kind === "waiting" && !asked.signal.aborted) {
    const response = await fetch(`${address(asked)}/poll?after=${wire.seq}${poller}`, { signal: asked.signal, cache: "no-store" });
    const bytes = new Uint8Array(await response.arrayBuffer());
    wire.keep(bytes);
    wire.frameBytes += headBytes(response);
    const { events, message } = JSON.parse(new TextDecoder().decode(bytes));
    if (!response.ok) return void (wire.end = { kind: "error", message: String(message) });
    for (const event of events) wire.hear(JSON.stringify(event));
    if (wire.end.kind === "waiting") await new Promise((resume) => setTimeout(resume, POLL_EVERY_MS));
  }
}

/** @type {Reading} */
async function readWhole(wire, asked) {
  const response = await fetch(address(asked), { headers: { accept: "application/json" }, signal: asked.signal, cache: "no-store" });
  const bytes = new Uint8Array(await response.arrayBuffer());
  wire.keep(bytes);
  wire.frameBytes += headBytes(response);
  const { text, finish_reason, error, message } = JSON.parse(new TextDecoder().decode(bytes));
  if (response.ok) wire.say(text);
  wire.end = response.ok ? { kind: "done", message: finish_reason } : { kind: "error", message: `HTTP ${response.status}: ${error?.message ?? message}` };
}

/** No page can speak it: the server's own client does, and passes on what came. @type {Reading} */
async function readGrpc(wire, asked) {
  const response = await fetch(`${address(asked)}/grpc`.replace("api/replies", "api/lab/replies"), { signal: asked.signal, cache: "no-store" });
  if (!response.ok) return void (wire.end = await said(response));
  const lines = new LineParser();
  await readText(response, (text) => lines.push(text).map((line) => JSON.parse(line)).forEach((item) => {
    if (item.type === "frame") wire.keep(Uint8Array.from(atob(item.data), (sign) => sign.charCodeAt(0)), item.name);
    if (item.type === "event") wire.hear(JSON.stringify(item.event));
  }));
}

/** @param {Asked} asked */
const address = ({ page, reply }) => httpAddress(page, `api/replies/${encodeURIComponent(reply)}`);

/** @param {Response} response @returns {Promise<import("./raw_wire.js").End>} */
async function said(response) {
  return { kind: "error", message: `HTTP ${response.status}: ${(await refusalOf(response)).message}` };
}
