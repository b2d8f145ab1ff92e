/** The line to a room, by sockets in our hand: what is over stays over, what is lost comes back. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { RoomLine } from "../../static/js/rooms/room_line.js";

class FakeSocket {
  static OPEN = 1;
  /** @type {FakeSocket[]} */
  static all = [];
  readyState = 0;
  onopen = () => {};
  /** @type {(message: { data: string }) => void} */
  onmessage = () => {};
  /** @type {(end: { code: number }) => void} */
  onclose = () => {};

  constructor() {
    FakeSocket.all.push(this);
  }

  send() {}

  close() {
    this.readyState = 3;
  }

  /** @param {...object} frames */
  welcome(...frames) {
    this.readyState = FakeSocket.OPEN;
    this.onopen();
    for (const frame of [{ type: "welcome" }, ...frames]) this.onmessage({ data: JSON.stringify(frame) });
  }
}

const kept = { WebSocket: globalThis.WebSocket, addEventListener: globalThis.addEventListener, document: globalThis.document };
/** The page's own events. */
let page = new EventTarget();
/** @type {string[]} */
let told = [];
/** @type {RoomLine} */
let line;

beforeEach(async () => {
  page = new EventTarget();
  told = [];
  FakeSocket.all = [];
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  globalThis.WebSocket = /** @type {any} */ (FakeSocket);
  globalThis.addEventListener = /** @type {any} */ (page.addEventListener.bind(page));
  globalThis.document = /** @type {any} */ (Object.assign(new EventTarget(), { hidden: false }));
  line = new RoomLine("ws://here", () => ({ role: "participant" }), { frame: () => {}, status: (status) => told.push(status) });
  await Promise.resolve();
});

afterEach(() => {
  line.close();
  mock.timers.reset();
  Object.assign(globalThis, kept);
});

/** @returns {FakeSocket} the newest */
const socket = () => /** @type {FakeSocket} */ (FakeSocket.all.at(-1));

for (const [code, status] of /** @type {[number, string][]} */ ([[4409, "replaced"], [4403, "kicked"], [4404, "ended"], [4401, "refused"]])) {
  test(`a phone that is ${status} stays so, whatever becomes of its network and its page`, () => {
    socket().welcome({ type: "room", host_online: true });
    socket().onclose({ code });
    for (const event of ["offline", "online", "pagehide", "pageshow"]) {
      page.dispatchEvent(new Event(event));
      mock.timers.tick(60_000);
    }
    assert.equal(line.status, status);
    assert.ok(line.isGone);
    assert.equal(told.at(-1), status);
    assert.equal(FakeSocket.all.length, 1, "its seat is not taken back");
  });
}

test("a phone that was offline, or in the browser's keeping, comes back", () => {
  socket().welcome({ type: "room", host_online: true });
  page.dispatchEvent(new Event("offline"));
  assert.equal(line.status, "reconnecting");
  page.dispatchEvent(new Event("online"));
  socket().welcome();
  assert.equal(line.status, "live");
  page.dispatchEvent(new Event("pagehide"));
  page.dispatchEvent(new Event("pageshow"));
  socket().welcome();
  assert.deepEqual([line.status, FakeSocket.all.length], ["live", 3]);
});
