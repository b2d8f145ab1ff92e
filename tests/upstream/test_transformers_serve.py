"""The upstream engine against a real server that we did not write: `transformers serve`.

A tiny random Llama with a byte tokenizer is made on the spot, so that nothing is downloaded. The
server needs the extra `bench`; loading torch twice takes it about half a minute on two cores.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.errors import BadRequest
from app.generation import Ended, Failed, Output, Piece
from app.prompt import Message, Prompt
from app.settings import Settings
from app.upstream.address import Patience
from app.upstream.engine import UpstreamEngine

pytestmark = [
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("fastapi", "openai", "pydantic")),
        reason="transformers serve needs the extra `bench` (fastapi, openai, pydantic)",
    ),
]

MAKE_MODEL = """
import sys, torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
torch.manual_seed(0)
names = ["<s>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
tokenizer = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
fast.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\\n{% endfor %}assistant: "
fast.save_pretrained(sys.argv[1])
LlamaForCausalLM(LlamaConfig(
    vocab_size=len(names), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=2, max_position_embeddings=4096, bos_token_id=0, eos_token_id=1,
)).save_pretrained(sys.argv[1])
"""


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path, Path]]:
    """(URL, model folder, the server's log) of a running `transformers serve`."""
    folder = tmp_path_factory.mktemp("model")
    # In processes of their own: the tests' process stays free of torch.
    subprocess.run([sys.executable, "-c", MAKE_MODEL, str(folder)], check=True, capture_output=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    log = folder / "serve.log"
    command = "import sys; from transformers.cli.transformers import main; sys.exit(main())"
    arguments = ["serve", str(folder), "--host", "127.0.0.1", "--port", port, "--device", "cpu"]
    with log.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, "-c", command, *arguments],
            stdout=out,
            stderr=out,
            env={**os.environ, "HF_HUB_OFFLINE": "1"},
        )
    try:
        yield f"http://127.0.0.1:{port}/v1", folder, log
    finally:
        server.kill()
        server.wait()


async def settled(serve: tuple[str, Path, Path]) -> UpstreamEngine:
    """An engine on the server, once that is ready."""
    url, folder, log = serve
    settings = Settings(engine="upstream", upstream=url)
    engine = UpstreamEngine(settings, patience=Patience(absent_s=0.2, question_s=30))
    await engine.start()
    async with asyncio.timeout(120):
        while engine.status.state != "ready":  # noqa: ASYNC110  (another process has no event for us)
            await asyncio.sleep(0.2)
    assert engine.model.name == str(folder), log.read_text()
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


async def test_transformers_serve_streams_a_conversation_stops_cancels_and_refuses(
    serve: tuple[str, Path, Path],
) -> None:
    engine = await settled(serve)
    hello = (Message("user", "hello"),)
    try:
        # A conversation comes in many pieces, with the server's own counts.
        outputs = await answer(engine, Prompt("a", hello, max_tokens=24))
        ended = outputs[-1]
        assert isinstance(ended, Ended), outputs
        assert (ended.finish_reason, ended.completion_tokens) == ("length", 24)
        assert ended.prompt_tokens == len("user: hello\nassistant: ")
        pieces = [o for o in outputs if isinstance(o, Piece)]
        assert len(pieces) > 1 and len({piece.at_ns for piece in pieces}) > 1

        # Greedy twice is the same text; a stop string is cut although the server sends it.
        whole = text(outputs)
        assert text(await answer(engine, Prompt("b", hello, max_tokens=24))) == whole
        stop = whole[3:6]
        cut = await answer(engine, Prompt("c", hello, max_tokens=24, stop=(stop,)))
        assert isinstance(cut[-1], Ended) and (cut[-1].finish_reason, cut[-1].stop) == ("stop", stop)
        assert text(cut) == whole[: whole.index(stop)]

        # A raw text, a cancellation, and what this server does not know.
        raw = await answer(engine, Prompt("d", text="Once", max_tokens=5))
        assert isinstance(raw[-1], Ended) and raw[-1].prompt_tokens == 4
        cancelled = await answer(engine, Prompt("e", hello, max_tokens=4000), cancel_after=2)
        assert isinstance(cancelled[-1], Ended) and cancelled[-1].finish_reason == "cancelled"
        refused = await answer(engine, Prompt("f", hello, ignore_eos=True))
        assert [type(o) for o in refused] == [Failed], refused
        assert isinstance(refused[0], Failed) and refused[0].code == "invalid_request"
        assert "ignore_eos" in refused[0].message
        with pytest.raises(BadRequest, match="cannot count"):
            await engine.count_tokens(Prompt("g", hello))
    finally:
        await engine.stop()
