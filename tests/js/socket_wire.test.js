/** The page's socket by a clock in our hand: a line that is cut without a word is noticed, and in time. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { SocketWire } from "../../static/js/stream/socket_wire.js";

class FakeSocket {
  static CONNECTING = 0;
  static OPEN = 1;
  /** @type {FakeSocket[]} */
  static all = [];
  readyState = FakeSocket.CONNECTING;
  bufferedAmount = 0;
  /** @type {string[]} */
  sent = [];
  /** @type {() => void} */
  onopen = () => {};
  /** @type {(message: { data: string }) => void} */
  onmessage = () => {};

  constructor() {
    FakeSocket.all.push(this);
  }

  /** @param {string} data */
  send(data) {
    this.sent.push(JSON.parse(data).type);
  }

  /** A half-open socket does not hear of its end either. */
  close() {}

  open() {
    this.readyState = FakeSocket.OPEN;
    this.onopen();
  }

  /** @param {object} frame */
  hear(frame) {
    this.onmessage({ data: JSON.stringify(frame) });
  }
}

const plain = globalThis.WebSocket;
const first = () => /** @type {FakeSocket} */ (FakeSocket.all[0]);
let now_ms = 0;
/** @type {string[]} */
let states = [];
/** @type {SocketWire} */
let wire;

beforeEach(() => {
  now_ms = 0;
  states = [];
  FakeSocket.all = [];
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  mock.method(performance, "now", () => now_ms);
  globalThis.WebSocket = /** @type {any} */ (FakeSocket);
  wire = new SocketWire("ws://here/ws", () => {}, ({ kind }) => states.push(kind));
  first().open();
});

afterEach(() => {
  wire.close();
  mock.timers.reset();
  mock.restoreAll();
  globalThis.WebSocket = plain;
});

/** Let time go by in small steps. @param {number} seconds @param {() => void} [each] second */
function pass(seconds, each = () => {}) {
  for (let second = 0; second < seconds; second += 1) {
    for (let step = 0; step < 10; step += 1) {
      now_ms += 100;
      mock.timers.tick(100);
    }
    each();
  }
}

test("a socket that has gone silent is given up within 25 seconds, and a new one is tried", () => {
  pass(25);
  assert.deepEqual(states.slice(0, 2), ["open", "lost"]);
  assert.ok(FakeSocket.all.length > 1);
});

test("it is asked once before", () => {
  pass(18);
  assert.deepEqual(first().sent, ["ping"]);
  assert.deepEqual(states, ["open"]);
});

test("an answer in time keeps it", () => {
  const socket = first();
  pass(60, () => {
    if (socket.sent.pop() === "ping") socket.hear({ type: "pong", t: 1 });
  });
  assert.deepEqual(states, ["open"]);
});

test("a tab that wakes up again and again does not put the end off", () => {
  pass(6, () => wire.probe());
  assert.deepEqual(states, ["open", "lost"]);
});
