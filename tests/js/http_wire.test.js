import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { HttpWire } from "../../static/js/stream/http_wire.js";

const fetchOfNode = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = fetchOfNode;
  mock.timers.reset();
});

/** A wire whose responses are written by the test. */
function scene() {
  /** @type {{ address: string, method: string, write(event: object): void, end(): void, cut(): void }[]} */
  const asked = [];
  globalThis.fetch = async (address, options) => {
    /** @type {ReadableStreamDefaultController<Uint8Array>} */
    let out = /** @type {any} */ (null);
    const body = new ReadableStream({ start: (controller) => void (out = controller) });
    asked.push({
      address: new URL(String(address)).pathname + new URL(String(address)).search,
      method: options?.method ?? "GET",
      write: (event) => out.enqueue(new TextEncoder().encode(`${JSON.stringify(event)}\n`)),
      end: () => out.close(),
      cut: () => out.error(new Error("cut")),
    });
    // As in a browser: who ends the request ends its body.
    options?.signal?.addEventListener("abort", () => out.error(new Error("aborted")));
    return new Response(body);
  };
  /** @type {any[]} */
  const heard = [];
  /** @type {string[]} */
  const states = [];
  let opened = () => {};
  const wire = new HttpWire("http://here.test/", (event) => heard.push(event), ({ kind }) => {
    states.push(kind);
    if (kind === "trying") opened();
  });
  const open = () => new Promise((go) => (opened = () => go(undefined)));
  return { wire, asked, heard, states, open };
}
/** Until promises that are ready have run. */
const settled = () => new Promise((go) => setImmediate(go));

/** @param {string} id @returns {import("../../static/js/events.js").Start} */
const start = (id) => ({ type: "start", id, messages: [{ role: "user", content: "q" }], pace: "word", acks: true });
/** @param {string} reply @returns {import("../../static/js/events.js").Attach} */
const attach = (reply) => ({ type: "attach", reply, after: 1, pace: "word", acks: true });
/** @param {string} reply @param {number} seq */
const delta = (reply, seq) => ({ type: "delta", reply, seq, text: "x", tokens: 1, t: 0 });
/** @param {string} reply */
const done = (reply) => ({ type: "done", reply, seq: 2, finish_reason: "stop", t: 9 });

test("two replies come side by side over HTTP, and neither ends the other", async () => {
  const { wire, asked, heard } = scene();
  assert.equal(wire.send(start("one")), true);
  assert.equal(wire.send(start("two")), true);
  await settled();
  asked[0]?.write(delta("one", 1));
  asked[1]?.write(delta("two", 1));
  for (const [i, reply] of ["one", "two"].entries()) {
    asked[i]?.write(done(reply));
    asked[i]?.end();
  }
  await settled();
  await settled();
  assert.deepEqual(heard.map(({ type, reply }) => `${type} ${reply}`).sort(), ["delta one", "delta two", "done one", "done two"]);
});

test("only the reply whose response broke is asked for again, by either of its names", async () => {
  const { wire, asked, states, open } = scene();
  wire.send(start("mine"));
  wire.send(start("other"));
  await settled();
  asked[0]?.write({ type: "queued", reply: "theirs", position: 0, t: 0, id: "mine" });
  asked[1]?.write({ type: "queued", reply: "second", position: 0, t: 0, id: "other" });
  await settled();
  assert.equal(wire.send(attach("theirs")), false);
  assert.equal(wire.send(start("mine")), false);
  const again = open();
  asked[0]?.cut();
  await again;
  assert.deepEqual(states, ["lost", "trying"]);
  assert.equal(wire.send(attach("second")), false);
  assert.equal(wire.send(attach("theirs")), true);
  assert.deepEqual(asked.map(({ method, address }) => `${method} ${address}`), [
    "POST /api/replies", "POST /api/replies", "GET /api/replies/theirs?after=1&pace=word",
  ]);
  wire.close();
});

test("a response that ends before its reply counts as broken, and one whose wire was closed does not", async () => {
  const { wire, asked, states, open } = scene();
  wire.send(start("short"));
  await settled();
  const again = open();
  asked[0]?.write(delta("short", 1));
  asked[0]?.end();
  await again;
  assert.deepEqual(states, ["lost", "trying"]);
  wire.send(start("short"));
  await settled();
  wire.close();
  asked[1]?.cut();
  await settled();
  assert.deepEqual(states, ["lost", "trying", "open"]);
});

test("a character that is cut between two chunks is whole again, wherever it is cut", async () => {
  const line = new TextEncoder().encode(`${JSON.stringify({ ...delta("one", 1), text: "🌍 नमस्ते" })}\n`);
  for (let cut = 1; cut < line.length; cut += 1) {
    globalThis.fetch = async () => new Response(new ReadableStream({
      start(out) {
        out.enqueue(line.slice(0, cut));
        out.enqueue(line.slice(cut));
        out.enqueue(new TextEncoder().encode(`${JSON.stringify(done("one"))}\n`));
        out.close();
      },
    }));
    /** @type {any[]} */
    const heard = [];
    const wire = new HttpWire("http://here.test/", (event) => heard.push(event), () => {});
    wire.send(start("one"));
    while (heard.at(-1)?.type !== "done") await settled();
    assert.equal(heard[0].text, "🌍 नमस्ते", `cut at ${cut}`);
  }
});

test("a response on which nothing comes for twenty seconds is a dead line, and a heartbeat keeps it", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { wire, asked, states } = scene();
  wire.send(start("one"));
  await settled();
  asked[0]?.write({ type: "queued", reply: "theirs", position: 0, t: 0, id: "one" });
  for (let beat = 0; beat < 5; beat += 1) {
    await settled();
    mock.timers.tick(15_000);
    asked[0]?.write({ type: "ping", t: 0 });
  }
  await settled();
  mock.timers.tick(19_999);
  await settled();
  assert.deepEqual(states, []);
  mock.timers.tick(1);
  await settled();
  assert.deepEqual(states, ["lost"]);
  mock.timers.tick(1000);
  assert.deepEqual(states, ["lost", "trying"]);
  assert.equal(wire.send(attach("theirs")), true);
  assert.equal(asked[1]?.address, "/api/replies/theirs?after=1&pace=word");
  wire.close();
});

test("a server that does not even answer is a dead line too, and is given less time when asked again", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { wire, states, asked } = scene();
  const fetchOfScene = globalThis.fetch;
  globalThis.fetch = (_, options) => new Promise((__, fail) => options?.signal?.addEventListener("abort", () => fail(new Error("aborted"))));
  wire.send(start("one"));
  mock.timers.tick(20_000);
  await settled();
  assert.deepEqual(states, ["lost"]);
  mock.timers.tick(250);
  wire.send(start("one"));
  mock.timers.tick(3000);
  await settled();
  assert.deepEqual(states, ["lost", "trying", "lost"]);
  globalThis.fetch = fetchOfScene;
  mock.timers.tick(500);
  wire.send(start("one"));
  await settled();
  assert.deepEqual(states, ["lost", "trying", "lost", "trying", "open"]);
  assert.equal(asked.length, 1);
  wire.close();
});
