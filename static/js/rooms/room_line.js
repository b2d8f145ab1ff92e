/**
 * The line to a room: one WebSocket that is opened again whenever it is lost, woken when the page comes
 * back to the front, and watched for silence. It hands frames on, keeps the clock, and says how it is.
 * It refuses to know roles' rules and elements.
 *
 * @typedef {import("./room_frames.js").RoomFrame} RoomFrame
 * @typedef {import("./room_status.js").Status} Status
 */

import { RoomClock } from "./room_clock.js";
import { readRoomFrame } from "./room_frames.js";
import { finalStatus, SILENCE_MS, statusOf, waitToRetry } from "./room_status.js";

/** Pings at the beginning, for the clock; then one now and then, for the line. */
const PINGS = 5;
const PING_EVERY_MS = 150;
const PULSE_MS = 5000;
/** A page that wakes up asks whether its socket still lives, and gives it so long: twice the way over a poor line. */
const ANSWER_MS = 1500;

export class RoomLine {
  clock = new RoomClock();
  /** @type {import("./room_frames.js").Room | null} */
  room = null;
  /** @type {WebSocket | null} */
  #socket = null;
  #open = false;
  /** @type {number | null} */
  #closeCode = null;
  #heard_ms = performance.now();
  #failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;
  #told = "";

  /**
   * @param {string} address of the socket
   * @param {() => object} hello the first message's fields: role, and what proves it
   * @param {{ frame(frame: RoomFrame): void, status(status: Status): void }} tell
   */
  constructor(address, hello, tell) {
    this.address = address;
    this.hello = hello;
    this.tell = tell;
    this.stopped = new AbortController();
    const { signal } = this.stopped;
    const pulse = setInterval(() => this.#pulse(), PULSE_MS);
    signal.addEventListener("abort", () => clearInterval(pulse));
    addEventListener("pageshow", () => this.wake(), { signal });
    addEventListener("online", () => this.wake(), { signal });
    addEventListener("offline", () => this.#lose(null), { signal });
    document.addEventListener("visibilitychange", () => document.hidden || this.wake(), { signal });
    // A page with an open socket cannot be kept for the Back button.
    addEventListener("pagehide", () => this.#lose(null), { signal });
    // After the caller has got the line that it will be told about.
    queueMicrotask(() => this.#connect());
  }

  /** @returns {Status} how it is now */
  get status() {
    const silent_ms = performance.now() - this.#heard_ms;
    return statusOf({ open: this.#open, closeCode: this.#closeCode, silent_ms }, this.room);
  }

  /** @returns {boolean} the socket was closed for good */
  get isGone() {
    return finalStatus(this.#closeCode) !== null;
  }

  /** Say something; lost where nobody listens: state says whether it has worked. @param {object} command @returns {boolean} */
  say(command) {
    if (!this.#open || this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(command));
    return true;
  }

  /** The page is looked at again: is the socket still there? */
  wake() {
    if (this.stopped.signal.aborted || this.isGone) return;
    if (!this.#open) return this.#connect();
    const asked_ms = performance.now();
    this.#ping();
    setTimeout(() => this.#open && this.#heard_ms < asked_ms && this.#again(), ANSWER_MS);
  }

  /** No more. */
  close() {
    this.stopped.abort();
    clearTimeout(this.#retry);
    this.#drop();
  }

  // Private

  #connect() {
    if (this.stopped.signal.aborted || (this.#socket && this.#socket.readyState <= WebSocket.OPEN)) return;
    clearTimeout(this.#retry);
    const socket = new WebSocket(this.address);
    this.#socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ type: "hello", ...this.hello() }));
    socket.onmessage = ({ data }) => socket === this.#socket && this.#hear(readRoomFrame(data));
    socket.onclose = ({ code }) => socket === this.#socket && this.#lose(code);
    this.#tellStatus();
  }

  /** @param {RoomFrame | null} frame */
  #hear(frame) {
    this.#heard_ms = performance.now();
    if (frame === null) return;
    if (frame.type === "welcome") this.#welcomed();
    else if (frame.type === "pong" && frame.echo !== null) this.clock.heard(frame.echo, frame.t);
    else if (frame.type === "room") {
      // Another epoch is another server, with another clock.
      if (this.room && frame.epoch !== this.room.epoch) this.clock.forget(), this.#ping();
      this.room = frame;
    }
    this.tell.frame(frame);
    this.#tellStatus();
  }

  #welcomed() {
    this.#open = true;
    this.#failures = 0;
    for (let i = 0; i < PINGS; i += 1) setTimeout(() => this.#ping(), i * PING_EVERY_MS);
  }

  /** @param {number | null} code null: this side has lost it, which changes nothing once it is over */
  #lose(code) {
    if (this.isGone) return;
    this.#closeCode = code;
    this.#drop();
    this.#tellStatus();
    if (this.isGone || this.stopped.signal.aborted) return;
    clearTimeout(this.#retry);
    const wait_ms = waitToRetry(this.#failures, code, this.room?.class_size ?? 0, Math.random());
    this.#retry = setTimeout(() => this.#connect(), wait_ms);
    this.#failures += 1;
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    this.#open = false;
    socket?.close();
  }

  #again() {
    this.#drop();
    this.#connect();
  }

  #ping() {
    this.say({ type: "ping", t: this.clock.now_ms() });
  }

  #pulse() {
    this.#ping();
    if (this.#open && performance.now() - this.#heard_ms >= SILENCE_MS) this.#again();
    this.#tellStatus();
  }

  #tellStatus() {
    const { status, isGone } = this;
    // A room that was closed can still be deleted: over, and then gone.
    const news = `${status} ${isGone}`;
    if (news === this.#told) return;
    this.#told = news;
    this.tell.status(status);
  }
}
