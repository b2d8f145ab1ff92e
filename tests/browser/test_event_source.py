"""The browser's own readers of streams, EventSource and fetch, understand our wires as they are."""

from __future__ import annotations

import pytest

from app.engine.scripted import ScriptedEngine
from tests.server import run_server

pytestmark = pytest.mark.browser

EVENT_SOURCE = """async () => {
  const start = await fetch("/api/replies?", {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/x-ndjson" },
    body: JSON.stringify({ messages: [{ role: "user", content: "x" }], pace: "token" }),
  });
  const id = start.headers.get("x-reply-id");
  const decoder = new TextDecoder();
  let read = "";
  let chunks = 0;
  for (let reader = start.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks += 1;
    read += decoder.decode(value, { stream: true });
  }
  const fetched = read.trim().split("\\n").map((line) => JSON.parse(line));
  const source = new EventSource(`/api/replies/${id}`);
  const heard = await new Promise((resolve) => {
    const events = [];
    source.onmessage = (message) => {
      events.push({ ...JSON.parse(message.data), lastEventId: message.lastEventId });
      if (events.at(-1).type === "done") resolve(events);
    };
  });
  // Left open on purpose: a finished reply must end the source, not be asked for again and again.
  await new Promise((resolve) => { source.onerror = () => source.readyState === 2 && resolve(); });
  return { fetched, heard, chunks };
}"""


def text(events: list[dict[str, str]]) -> str:
    return "".join(event["text"] for event in events if event["type"] == "delta")


async def test_fetch_and_event_source_read_the_same_text_and_the_source_ends(server, browser) -> None:
    tokens = ["नमस्ते ", "👩‍👩‍👧 ", "and ", "three ", "words"]
    running = server(ScriptedEngine([(token.encode(), 15) for token in tokens]))
    page = await browser.new_page()
    await page.goto(f"{running.url}/healthz")
    got = await page.evaluate(EVENT_SOURCE)
    assert text(got["fetched"]) == text(got["heard"]) == "".join(tokens)
    assert got["chunks"] > 3
    assert [e["lastEventId"] for e in got["heard"] if e["type"] == "delta"] == ["1", "2", "3", "4", "5"]
    await page.close()


LISTEN = """(id) => {
  const source = new EventSource(`/api/replies/${id}`);
  window.heard = [];
  window.ended = false;
  source.onmessage = (message) => {
    const event = JSON.parse(message.data);
    if (event.type === "delta") window.heard.push(event);
    if (event.type === "done") window.ended = true;
  };
}"""


async def test_an_event_source_that_is_cut_off_comes_back_behind_what_it_has(browser) -> None:
    tokens = [f"word{n} " for n in range(6)]
    engine = ScriptedEngine([(token.encode(), 0) for token in tokens], manual=True)
    async with run_server(engine) as running:
        page = await browser.new_page()
        await page.goto(f"{running.url}/healthz")
        start = """async () => (await (await fetch("/api/replies", {
          method: "POST",
          body: JSON.stringify({ messages: [{ role: "user", content: "x" }], poll: true }),
        })).json()).reply"""
        await page.evaluate(LISTEN, await page.evaluate(start))
        for made in (2, 4):
            for _ in range(2):
                engine.step()
            await page.wait_for_function("(count) => window.heard.length === count", arg=made)
            for connection in list(running.server.server_state.connections):
                connection.transport.abort()
        for _ in range(2):
            engine.step()
        await page.wait_for_function("() => window.ended")
        heard = await page.evaluate("() => window.heard")
        assert [event["seq"] for event in heard] == [1, 2, 3, 4, 5, 6]
        assert text(heard) == "".join(tokens)
        await page.close()
