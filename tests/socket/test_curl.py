"""``curl -N`` on each streamed HTTP wire: every word is on the terminal before the next one is made."""

import asyncio
import json
import shutil

import pytest

from app.engine.scripted import ScriptedEngine
from tests.server import run_server, until
from tests.socket.clients import HELLO

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="not run: there is no curl")

WORDS = ["One", " two", " three", "."]
CHAT = {"model": "default", "stream": True, "messages": HELLO, "max_tokens": 50}
WIRES = {
    "sse": ("/api/replies", {"messages": HELLO}, "text/event-stream"),
    "ndjson": ("/api/replies", {"messages": HELLO}, "application/x-ndjson"),
    "plain": ("/api/replies", {"messages": HELLO}, "text/plain"),
    "lesson": ("/generate-stream?prompt=hi", None, "*/*"),
    "openai chat": ("/v1/chat/completions", CHAT, "*/*"),
    "openai text": ("/v1/completions", {"model": "default", "stream": True, "prompt": "hi"}, "*/*"),
    "anthropic": ("/v1/messages", CHAT, "*/*"),
}


@pytest.mark.parametrize("wire", WIRES)
async def test_curl_shows_each_word_before_the_next_is_made(wire):
    path, body, accept = WIRES[wire]
    engine = ScriptedEngine([(word.encode(), 0.0) for word in WORDS], manual=True)
    async with run_server(engine) as s:
        curl = await asyncio.create_subprocess_exec(
            *("curl", "-sN", "--noproxy", "*", s.url + path, "-H", f"accept: {accept}"),
            *(("-d", json.dumps(body)) if body is not None else ()),
            stdout=asyncio.subprocess.PIPE,
        )
        assert curl.stdout is not None
        await until(lambda: [r for r in s.replies.running() if r.started])
        async with asyncio.timeout(20):
            shown = b""
            for made, word in enumerate(WORDS[:3], 1):
                engine.step()
                while word.encode() not in shown:
                    shown += await curl.stdout.read(65536)
                assert sum(engine.made.values()) == made
            engine.step()
            await curl.stdout.read()
            assert await curl.wait() == 0
