"""From a folder to a running model, and every refusal as one line."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from app.engine.model import load, numerics
from app.engine.model.architecture import parse
from app.engine.model.generic import GenericRunner
from app.engine.model.numerics import choose
from app.engine.model.runner import Runner
from app.engine.runner_protocol import Chunk
from app.errors import StartupError
from app.settings import Settings
from tests.engine.model.models import config_of, make

_SILENT = lambda what, part: None  # noqa: E731


def _with_tokenizer(folder: Path) -> Path:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())[:97]
    backend = Tokenizer(models.BPE(vocab={c: n for n, c in enumerate(alphabet)}, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.save(str(folder / "tokenizer.json"))
    return folder


@pytest.mark.parametrize(("family", "kind"), [("qwen2", Runner), ("gpt2", GenericRunner)])
def test_a_folder_of_safetensors_loads(family: str, kind: type, tmp_path: Path) -> None:
    make(family, tmp_path)
    told: list[str] = []
    settings = Settings(model=str(_with_tokenizer(tmp_path)), device="cpu", max_batch=2, context_tokens=128)
    runner, tokenizer = load(settings, lambda what, part: told.append(what))
    assert isinstance(runner, kind)
    assert (runner.info.name, runner.context_tokens, runner.num_slots) == (tmp_path.name, 128, 4)
    assert isinstance(runner, Runner | GenericRunner) and runner.kv_bytes_per_token() > 0
    assert 2 in tokenizer.eos_ids
    logits = runner.step([Chunk(0, 0, tokenizer.encode_text("abc"), True)], [])
    assert logits.shape == (1, runner.vocab_size)
    assert "loading the weights" in told


@pytest.mark.parametrize("model_type", ["mamba", "bert", "nobody-knows"])
def test_models_that_do_not_decode_alone_are_refused(model_type: str, tmp_path: Path) -> None:
    make("llama", tmp_path)
    config = {"model_type": model_type, "vocab_size": 97, "hidden_size": 64, "num_hidden_layers": 2}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(StartupError, match="not supported") as failure:
        load(Settings(model=str(_with_tokenizer(tmp_path)), device="cpu"), _SILENT)
    assert "\n" not in str(failure.value)


def test_broken_or_incomplete_weights_are_refused(tmp_path: Path) -> None:
    make("qwen3", tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
    settings = Settings(model=str(_with_tokenizer(tmp_path)), device="cpu")
    with pytest.raises(StartupError, match="lack model.layers.2"):
        load(settings, _SILENT)
    (tmp_path / "model.safetensors").write_bytes(b"cut short")
    with pytest.raises(StartupError, match="cannot read"):
        load(settings, _SILENT)


@pytest.mark.parametrize(("device", "dtype"), [("cpu", "int3"), ("toaster", "auto")])
def test_unknown_devices_and_number_formats_are_refused(device: str, dtype: str) -> None:
    with pytest.raises(StartupError, match=r"int3|toaster") as failure:
        choose(device, dtype)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "gpt2"},
        {"hidden_act": "gelu"},
        {"rope_parameters": {"rope_type": "yarn", "factor": 4.0}},
        {"use_sliding_window": True},
        {"quantization_config": {}},
    ],
)
def test_what_the_hand_written_pass_cannot_do_is_left_to_transformers(change: dict[str, Any]) -> None:
    config = config_of("qwen2").to_dict()
    assert parse(config) is not None
    assert parse({**config, **change}) is None


def test_bfloat16_takes_the_packed_operators_where_the_processor_has_the_instructions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for has in (False, True):
        monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", functools.partial(bool, has))
        monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: False)
        assert choose("cpu", "bfloat16").packed is has
        with monkeypatch.context() as without_compiler:
            without_compiler.setattr(numerics, "find_spec", lambda name: None)
            assert choose("cpu", "auto").packed is has


@pytest.mark.parametrize("has", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "auto"])
def test_transformers_own_models_are_kept_in_the_form_asked_for(
    dtype: str, has: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: has)
    make("gpt2", tmp_path)
    settings = Settings(model=str(_with_tokenizer(tmp_path)), device="cpu", dtype=dtype, max_batch=2)
    runner, _ = load(settings, lambda what, part: None)
    assert isinstance(runner, GenericRunner)
    assert runner.info.dtype == ("float32" if dtype == "auto" else dtype)
