"""The upstream engine against servers that we did not write; see real_servers for where they are.

Loading torch takes them a minute on two cores. What is not there is skipped, and says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from app.errors import BadRequest
from app.generation import Ended, Failed, Output, Piece
from app.prompt import Message, Prompt
from app.settings import Settings
from app.upstream.address import Patience
from app.upstream.engine import UpstreamEngine
from tests.upstream.real_servers import RealServer, real_server

pytestmark = pytest.mark.timeout(400)

HELLO = (Message("user", "hello"),)
#: They know ignore_eos, and count tokens.
ABLE = ("llama.cpp", "vLLM")


@pytest.fixture(scope="module", params=["transformers serve", *ABLE])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    with real_server(request.param, tmp_path_factory.mktemp("server")) as running:
        yield running


async def settled(server: RealServer) -> UpstreamEngine:
    """An engine on the server, once that is ready."""
    settings = Settings(engine="upstream", upstream=server.url)
    engine = UpstreamEngine(settings, patience=Patience(absent_s=0.2, question_s=30))
    await engine.start()
    try:
        async with asyncio.timeout(300):
            while engine.status.state != "ready":  # noqa: ASYNC110  (another process has no event for us)
                await asyncio.sleep(0.2)
    except TimeoutError:
        await engine.stop()
        pytest.fail(f"{server.name} is not ready; it said: {server.log.read_text()[-2000:]}")
    assert engine.model.name == server.model
    return engine


async def answer(engine: UpstreamEngine, prompt: Prompt, *, cancel_after: int | None = None) -> list[Output]:
    outputs: list[Output] = []
    over = asyncio.Event()

    def sink(output: Output) -> None:
        outputs.append(output)
        if isinstance(output, Ended | Failed):
            over.set()
        elif cancel_after is not None and sum(isinstance(o, Piece) for o in outputs) == cancel_after:
            engine.cancel(prompt.id)

    engine.submit(prompt, sink)
    await over.wait()
    return outputs


def text(outputs: list[Output]) -> str:
    return "".join(o.text for o in outputs if isinstance(o, Piece))


async def test_it_streams_a_conversation_stops_cancels_and_refuses(server: RealServer) -> None:
    engine = await settled(server)
    able = server.name in ABLE
    asked: dict[str, Any] = {"max_tokens": 24, "ignore_eos": able}
    try:
        # A conversation comes in many pieces, with the server's own counts.
        outputs = await answer(engine, Prompt("a", HELLO, **asked))
        ended = outputs[-1]
        assert isinstance(ended, Ended), outputs
        assert (ended.finish_reason, ended.completion_tokens) == ("length", 24)
        assert ended.prompt_tokens > 5
        pieces = [o for o in outputs if isinstance(o, Piece)]
        assert len(pieces) > 1 and len({piece.at_ns for piece in pieces}) > 1

        # Greedy twice is the same text; a stop string is cut, whether the server sends it or not.
        whole = text(outputs)
        assert text(await answer(engine, Prompt("b", HELLO, **asked))) == whole
        stop = whole[3:6]
        cut = await answer(engine, Prompt("c", HELLO, **asked, stop=(stop,)))
        assert isinstance(cut[-1], Ended) and cut[-1].finish_reason == "stop", cut
        assert text(cut) == whole[: whole.index(stop)]

        # A raw text, and a cancellation.
        raw = await answer(engine, Prompt("d", text="Once", max_tokens=5, ignore_eos=able))
        assert isinstance(raw[-1], Ended) and raw[-1].completion_tokens == 5, raw
        cancelled = await answer(engine, Prompt("e", HELLO, max_tokens=1000, ignore_eos=able), cancel_after=2)
        assert isinstance(cancelled[-1], Ended) and cancelled[-1].finish_reason == "cancelled"

        # What it knows is used; what it does not know is refused by its name, or said.
        if able:
            assert await engine.count_tokens(Prompt("f", HELLO)) == ended.prompt_tokens
            return
        refused = await answer(engine, Prompt("f", HELLO, ignore_eos=True))
        assert [type(o) for o in refused] == [Failed], refused
        assert isinstance(refused[0], Failed) and refused[0].code == "invalid_request"
        assert "ignore_eos" in refused[0].message
        with pytest.raises(BadRequest, match="cannot count"):
            await engine.count_tokens(Prompt("g", HELLO))
    finally:
        await engine.stop()
