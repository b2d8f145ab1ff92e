"""The lesson's own programs do what the lesson says."""

import asyncio
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st

CODE = Path(__file__).parents[2] / "docs" / "code"


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"lesson_{name}", CODE / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["batching", "credit", "pieces"])
def test_each_can_be_run_as_it_stands(name: str):
    done = subprocess.run([sys.executable, CODE / f"{name}.py"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and done.stdout and not done.stderr


@pytest.mark.parametrize("path", sorted(CODE.glob("*.py")), ids=lambda path: path.stem)
def test_each_is_short_enough_to_be_read(path: Path):
    assert len(path.read_text().splitlines()) <= 90


async def test_the_server_streams_and_the_client_sees_it():
    server_code, client = program("stream_server"), program("measure_client")
    server = uvicorn.Server(uvicorn.Config(server_code.app, port=0, log_level="error"))
    running = asyncio.ensure_future(server.serve())
    while not server.started:  # noqa: ASYNC110 - it tells nobody
        await asyncio.sleep(0.01)
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    streamed, whole = await client.measure(f"{url}/streamed"), await client.measure(f"{url}/whole")
    server.should_exit = True
    await running
    assert "".join(text for _, text in streamed) == "".join(text for _, text in whole)
    assert len(streamed) > 5 and len(whole) == 1
    # Prefill against prefill and ten steps more, whatever else the machine does: never the other way.
    assert streamed[0][0] < whole[0][0]
    assert re.match(r"first word \d", client.numbers(streamed))


def test_looking_up_at_every_step_lets_the_short_ones_in():
    batching = program("batching")
    by_request, by_iteration = batching.example(), batching.example()
    batching.by_request(by_request, slots=2)
    batching.by_iteration(by_iteration, slots=2)
    assert [s.first_token for s in by_request] == [1, 40, 39, 43]
    assert [s.first_token for s in by_iteration] == [1, 1, 5, 9]


@given(st.integers(2, 20), st.integers(0, 1), st.integers(1, 60))
def test_no_more_than_the_high_mark_is_ever_unread(high: int, low: int, tokens: int):
    assert asyncio.run(program("credit").example(tokens, high, low)) <= high


@given(st.text(), st.data())
def test_characters_come_whole_however_they_are_cut(text: str, data: st.DataObject):
    whole = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)))))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert "".join(program("pieces").text_of(pieces)) == text


@given(st.lists(st.integers(0, 40), max_size=6))
def test_events_come_whole_however_they_are_cut(cuts: list[int]):
    whole = "data: one\n\ndata: two\ndata: lines\n\n: comment\ndata:three\n\n"
    edges = sorted({min(cut, len(whole)) for cut in cuts})
    pieces = [whole[a:b] for a, b in zip([0, *edges], [*edges, len(whole)], strict=True)]
    assert list(program("pieces").events_of(pieces)) == ["one", "two\nlines", "three"]
