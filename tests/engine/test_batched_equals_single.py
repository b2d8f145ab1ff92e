"""Whatever the neighbours do, a prompt's text is the text it has alone: the engine's main promise.

The toy model's tokens depend on every token before them, so that any mix-up of memory shows. The
same is then tried with a small random Llama in the real runner.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine.commands import Cancel, Grant
from app.engine.model import numerics
from app.engine.model.architecture import parse
from app.engine.model.llama import Llama
from app.engine.model.runner import Runner
from app.engine.model.tensors import Tensors
from app.engine.runner_protocol import ModelRunner
from app.generation import ModelInfo, Piece
from app.prompt import Prompt, Sampling
from tests.engine.tiny import VOCAB, World, alone

SAMPLINGS = st.sampled_from(
    [
        Sampling(),
        Sampling(temperature=1.0, seed=3),
        Sampling(temperature=0.7, seed=5, top_p=0.8, top_k=20),
        Sampling(temperature=1.2, seed=5, min_p=0.1, repetition_penalty=1.3),
        Sampling(presence_penalty=0.5, frequency_penalty=0.7, logit_bias={5: 3.0}),
    ]
)
# Prompts share beginnings, so that prefixes are copied and taken over.
BEGINNINGS = ["You are kind. " * 2, "You are kind. You are short. ", "x" * 40, "1", "2", "3"]
TEXTS = st.builds(str.__add__, st.sampled_from(BEGINNINGS), st.text(alphabet="ab", max_size=30))
PROMPTS = st.lists(
    st.builds(
        lambda text, sampling, max_tokens, stop, ignore_eos, min_tokens, granted: Prompt(
            id="",
            text=text,
            sampling=sampling,
            max_tokens=max_tokens,
            stop=stop,
            ignore_eos=ignore_eos,
            min_tokens=min_tokens,
            granted_tokens=granted,
        ),
        TEXTS,
        SAMPLINGS,
        st.sampled_from([1, 3, 60, 60, 60]),
        st.sampled_from([(), (), ("ab",), ("a", "the "), (" b",)]),
        st.sampled_from([True, True, False]),
        st.integers(0, 5),
        st.sampled_from([None, None, None, None, 4]),
    ),
    min_size=3,
    max_size=6,
)
ENGINES = st.fixed_dictionaries(
    {
        "num_slots": st.sampled_from([4, 5, 8]),
        "max_batch": st.sampled_from([1, 4, 4]),
        "prefill_chunk_tokens": st.sampled_from([1, 7, 30, 200]),
        # The largest prompt and answer together need 9 blocks of 16 tokens.
        "num_blocks": st.sampled_from([9, 10, 12, 64]),
        "paused_kv_percent": st.sampled_from([0, 50, 100]),
    }
)


HISTORIES = {
    "prompts": PROMPTS,
    "engine": ENGINES,
    "delays": st.lists(st.integers(0, 8), min_size=6, max_size=6),
    "grants": st.lists(st.integers(0, 7), min_size=6, max_size=6),
    "cancelled": st.sets(st.sampled_from(["s0", "s1", "s2", "s3", "s4", "s5"]), max_size=2),
}


@settings(max_examples=60, deadline=None)
@given(**HISTORIES)
def test_every_text_is_the_text_it_has_alone(prompts, engine, delays, grants, cancelled):
    world = World(**engine)
    named = live(world, prompts, delays, grants, cancelled)
    compare(world, named, cancelled, None)
    memory = world.loop.scheduler.memory
    memory.drop_cache()
    assert memory.blocks.num_free == memory.blocks.num_blocks
    world.run()
    assert world.runner.slots == [[] for _ in world.runner.slots]


@settings(max_examples=6, deadline=None)
@given(**{**HISTORIES, "engine": ENGINES.map(lambda engine: {**engine, "num_slots": 8})})
def test_the_same_with_a_random_llama(llama, prompts, engine, delays, grants, cancelled):
    runner, _ = llama
    world = World(real_runner=runner, **engine)
    named = live(world, prompts, delays, grants, cancelled)
    compare(world, named, cancelled, runner)


def test_greedy_tokens_are_those_of_transformers(llama):
    runner, reference = llama
    world = World(real_runner=runner, prefill_chunk_tokens=7, num_blocks=9)
    texts = {"a": "x" * 30, "b": "y" * 41, "c": "z"}
    for id, text in texts.items():
        world.add(Prompt(id=id, text=text, max_tokens=40, ignore_eos=True, sampling=Sampling(logprobs=0)))
    world.run()
    for id, text in texts.items():
        told = [i.token_id for o in world.outputs(id) if isinstance(o, Piece) for i in o.info]
        ids = world.tokenizer.encode_text(text)
        for token_id in told:
            with torch.inference_mode():
                logits = reference(torch.tensor([ids])).logits[0, -1]
            assert logits[token_id] >= logits.max() - 1e-4
            ids.append(token_id)
        assert len(told) == 40


def live(
    world: World, prompts: list[Prompt], delays: list[int], grants: list[int], cancelled: set[str]
) -> dict[str, Prompt]:
    """Let the prompts arrive, pause, be granted more, be cancelled and end; returns them by id."""
    named = {f"s{n}": msgspec.structs.replace(prompt, id=f"s{n}") for n, prompt in enumerate(prompts)}
    for prompt, delay in zip(named.values(), delays, strict=False):
        world.add(prompt)
        for _ in range(delay):
            world.loop.run_once()
            world.loop.scheduler.check()
    world.apply(*(Cancel(id) for id in cancelled))
    for turn in range(1, 6):
        world.run()
        world.apply(*(Grant(id, 1 + turn * more) for id, more in zip(named, grants, strict=False)))
    world.run()
    world.apply(*(Grant(id, 1000) for id in named))
    world.run()
    return named


def compare(
    world: World, named: dict[str, Prompt], cancelled: set[str], real_runner: ModelRunner | None
) -> None:
    """Each prompt's text, end and counts are those it has alone; a cancelled one's are their beginning."""
    for id, prompt in named.items():
        text, ended = alone(prompt, real_runner)
        told = world.ended(id)
        assert told.completion_tokens == world.num_tokens_told()[id]
        if id in cancelled and told.finish_reason == "cancelled":
            # Half a character at its end was flushed.
            assert text.startswith(world.text(id).rstrip("\ufffd"))
            continue
        assert world.text(id) == text
        assert (told.finish_reason, told.stop) == (ended.finish_reason, ended.stop)
        assert told.completion_tokens == ended.completion_tokens


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Runner, Any]]:
    """A random Llama of two layers in the real runner in float32, and the same in transformers."""
    from transformers import LlamaConfig, LlamaForCausalLM

    folder: Path = tmp_path_factory.mktemp("llama")
    torch.manual_seed(0)
    # Large random weights: the likeliest token then leads by far more than rounding.
    config = LlamaConfig(
        vocab_size=VOCAB,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.3,
    )
    reference = LlamaForCausalLM(config).float().eval()
    reference.save_pretrained(folder)
    architecture = parse(json.loads((folder / "config.json").read_text()))
    assert architecture is not None
    with torch.inference_mode():
        model = Llama(Tensors(folder), architecture, numerics.choose("cpu", "float32"), lambda part: None)
    # Matrices this small gain nothing from a second thread, which a busy machine makes wait.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Runner(model, ModelInfo("llama"), 8, 256), reference
    torch.set_num_threads(threads)
