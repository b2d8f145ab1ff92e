"""Servers that we did not write, as processes, for the tests of the upstream engine.

`transformers serve` and vLLM get a tiny random Llama with a byte tokenizer, made on the spot, so that
nothing is downloaded; llama.cpp's server gets the default model's file. Where one of them is:

    TRANSFORMERS_CLI=  the `transformers` command of another environment (else this one's: extra bench)
    LLAMA_SERVER=      llama.cpp's server, when it is not on PATH
    VLLM_SERVER=       the `vllm` command of another environment, when it is not on PATH
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.engine.weights import packaged_file

_MAKE_MODEL = """
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
    vocab_size=len(names), hidden_size=128, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=2, max_position_embeddings=4096, bos_token_id=0, eos_token_id=1,
)).save_pretrained(sys.argv[1])
"""


@dataclass(frozen=True, slots=True)
class RealServer:
    """A running one: its base URL, the name of its model, and what it has said so far."""

    name: str
    url: str
    model: str
    log: Path


@contextmanager
def real_server(name: str, folder: Path) -> Iterator[RealServer]:
    """Start the server of that name, its files in ``folder``. Skips the test where it is not to be had."""
    model, command = {"transformers serve": _transformers, "llama.cpp": _llama, "vLLM": _vllm}[name](folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    log = folder / "serve.log"
    quiet = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    with log.open("wb") as out:
        # A session of its own: vLLM's engine is a child, and must not outlive it.
        server = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", port],
            stdout=out,
            stderr=out,
            env={**os.environ, **quiet},
            start_new_session=True,
        )
    try:
        yield RealServer(name, f"http://127.0.0.1:{port}", model, log)
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, 9)
            server.wait()


# Private: (the model's name there, the command without its address)


def _transformers(folder: Path) -> tuple[str, list[str]]:
    cli = os.environ.get("TRANSFORMERS_CLI") or str(Path(sys.executable).with_name("transformers"))
    python = _interpreter(cli)
    if subprocess.run([python, "-c", "import fastapi, uvicorn, openai"], capture_output=True).returncode:
        pytest.skip("not run: TRANSFORMERS_CLI names none, and the extra `bench` is not installed here")
    model = _tiny_model(python, folder)
    return model, [python, cli, "serve", model, "--device", "cpu"]


def _llama(folder: Path) -> tuple[str, list[str]]:
    binary = os.environ.get("LLAMA_SERVER") or shutil.which("llama-server")
    if binary is None:
        pytest.skip("not run: llama-server is not on PATH and LLAMA_SERVER names none")
    return "default", [binary, "-m", str(packaged_file()), "-c", "2048", "-np", "1", "--alias", "default"]


def _vllm(folder: Path) -> tuple[str, list[str]]:
    cli = os.environ.get("VLLM_SERVER") or shutil.which("vllm")
    if cli is None:
        pytest.skip("not run: vllm is not on PATH and VLLM_SERVER names none")
    model = _tiny_model(_interpreter(cli), folder)
    return model, [cli, "serve", model, "--dtype", "float32", "--enforce-eager", "--max-model-len", "2048"]


def _tiny_model(python: str, folder: Path) -> str:
    """In a process of its own: the tests' process stays free of torch."""
    model = folder / "model"
    subprocess.run([python, "-c", _MAKE_MODEL, str(model)], check=True, capture_output=True)
    return str(model)


def _interpreter(cli: str) -> str:
    """The Python that runs a console script: its first line names it."""
    try:
        with open(cli, "rb") as file:
            return file.readline().decode().strip().removeprefix("#!").split(" ")[0]
    except OSError:
        pytest.skip(f"not run: there is no {cli}")
