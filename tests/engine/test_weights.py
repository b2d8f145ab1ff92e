"""Finding a model, converting a GGUF file once and atomically, and refusing what is unsafe."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from app.engine import tokenizer, weights
from app.engine.gguf_conversion import Progress, convert
from app.errors import StartupError
from app.prompt import Message


@dataclass
class Wishes:
    model: str
    cache_dir: Path


def _silent(what: str, part: float | None) -> None:
    pass


def _quick(file: Path, folder: Path, progress: Progress) -> None:
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(file.read_bytes())


def _half(file: Path, folder: Path, progress: Progress) -> None:
    (folder / "config.json").write_text("{}")
    os.kill(os.getpid(), signal.SIGKILL)


def _slow(file: Path, folder: Path, progress: Progress) -> None:
    _quick(file, folder, progress)
    time.sleep(0.2)  # long enough for the other process to arrive while we hold the lock


def _convert_in_child(file: Path, cache: Path, convert: object) -> None:
    weights.converted(file, cache, _silent, convert)  # type: ignore[arg-type]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "some.gguf"
    path.write_bytes(b"weights")
    return path


def _entries(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir() if not path.name.endswith(".lock"))


def test_a_conversion_is_kept_and_not_done_again(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    folder = weights.converted(file, cache, _silent, _quick)
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    assert weights.converted(file, cache, _silent, _half) == folder
    assert _entries(cache) == [folder.name]


def test_a_changed_file_gets_a_new_folder(file: Path, tmp_path: Path) -> None:
    first = weights.converted(file, tmp_path / "cache", _silent, _quick)
    file.write_bytes(b"other weights")
    second = weights.converted(file, tmp_path / "cache", _silent, _quick)
    assert first != second
    assert (second / "model.safetensors").read_bytes() == b"other weights"


def test_a_conversion_killed_in_the_middle_leaves_nothing_broken(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    child = multiprocessing.get_context("spawn").Process(target=_convert_in_child, args=(file, cache, _half))
    child.start()
    child.join(60)
    assert child.exitcode == -signal.SIGKILL
    (leftover,) = _entries(cache)
    assert leftover.startswith(".")
    folder = weights.converted(file, cache, _silent, _quick)
    assert (folder / "model.safetensors").is_file()
    assert _entries(cache) == [folder.name]


def test_a_conversion_that_fails_leaves_nothing(file: Path, tmp_path: Path) -> None:
    def fails(file: Path, folder: Path, progress: Progress) -> None:
        (folder / "half").write_text("x")
        raise StartupError("no")

    with pytest.raises(StartupError):
        weights.converted(file, tmp_path / "cache", _silent, fails)
    assert _entries(tmp_path / "cache") == []


def test_two_conversions_at_once_make_one(file: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    spawn = multiprocessing.get_context("spawn")
    children = [spawn.Process(target=_convert_in_child, args=(file, cache, _slow)) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0, 0]
    assert len(_entries(cache)) == 1


def test_a_cache_that_cannot_be_written_is_one_clear_line(file: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(StartupError, match="cannot write the converted model"):
        weights.converted(file, tmp_path / "cache", _silent, _quick)


def _folder(tmp_path: Path, *names: str) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in names:
        (folder / name).write_text("{}")
    return folder


def test_a_folder_of_safetensors_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = _folder(tmp_path, "config.json", "model.safetensors")
    assert weights.find(Wishes(str(folder), tmp_path), _silent) == weights.ModelFolder(folder, "model")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["config.json", "pytorch_model.bin"], "only pickle weights"),
        (["config.json", "model.pt"], "only pickle weights"),
        (["config.json"], "no \\*.safetensors"),
        (["model.safetensors"], "no config.json"),
    ],
)
def test_other_folders_are_refused_in_one_line(tmp_path: Path, names: list[str], message: str) -> None:
    folder = _folder(tmp_path, *names)
    with pytest.raises(StartupError, match=message) as failure:
        weights.find(Wishes(str(folder), tmp_path), _silent)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("model", ["/no/such/folder", "./nowhere", "~/nowhere", "a/b/c"])
def test_a_path_that_is_not_there_is_not_looked_for_elsewhere(tmp_path: Path, model: str) -> None:
    with pytest.raises(StartupError, match="no such file or folder"):
        weights.find(Wishes(model, tmp_path), _silent)


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"pickle")
    (tmp_path / "x.gguf").write_bytes(b"not really, but long enough to hold a magic number")
    with pytest.raises(StartupError, match=r"not a \.gguf file"):
        weights.find(Wishes(str(tmp_path / "x.bin"), tmp_path), _silent)
    with pytest.raises(StartupError, match="cannot read x.gguf as GGUF"):
        weights.find(Wishes(str(tmp_path / "x.gguf"), tmp_path / "cache"), _silent)


def test_an_unknown_model_without_a_network_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(StartupError, match="nobody/nothing: .*cannot be downloaded") as failure:
        weights.find(Wishes("nobody/nothing", tmp_path), _silent)
    assert "\n" not in str(failure.value)


def _written(tmp_path: Path, architecture: str = "llama", pre: str = "smollm") -> Path:
    """A GGUF file with one Q4_1, one Q8_0 and one F32 tensor and a byte-level tokenizer."""
    import gguf

    path = tmp_path / "tiny.gguf"
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(32)
    writer.add_head_count(2)
    writer.add_layer_norm_rms_eps(1e-5)
    tokens = ["<|im_start|>", "<|im_end|>", "a", "b", "Ġ", "ab", "Ċ", "Ã", "©"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, *[1] * 7])
    writer.add_token_merges(["a b"])
    writer.add_eos_token_id(1)
    writer.add_chat_template("{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}")
    random = np.random.default_rng(0)
    for name, kind in (("blk.0.ffn_down", "Q4_1"), ("blk.0.attn_q", "Q4_0"), ("token_embd", "Q8_0")):
        values = random.standard_normal((8, 64)).astype(np.float32)
        quantised = gguf.GGMLQuantizationType[kind]
        writer.add_tensor(f"{name}.weight", gguf.quants.quantize(values, quantised), raw_dtype=quantised)
    writer.add_tensor("output_norm.weight", np.ones(64, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_every_group_of_a_gguf_file_keeps_its_numbers(tmp_path: Path) -> None:
    """What we read back equals gguf's own dequantisation, bit for bit."""
    import gguf
    import torch

    from app.engine.model.tensors import Tensors

    path, folder = _written(tmp_path), tmp_path / "out"
    folder.mkdir()
    convert(path, folder, _silent)
    ours = Tensors(folder)
    names = {
        "blk.0.ffn_down.weight": "model.layers.0.mlp.down_proj.weight",
        "blk.0.attn_q.weight": "model.layers.0.self_attn.q_proj.weight",
        "token_embd.weight": "model.embed_tokens.weight",
        "output_norm.weight": "model.norm.weight",
    }
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(path).tensors}
    for theirs, name in names.items():
        right = gguf.quants.dequantize(tensors[theirs].data, tensors[theirs].tensor_type)
        got = ours.weight(name).dense(torch.float32).numpy()
        np.testing.assert_allclose(got, right, rtol=0, atol=1e-6)
    config = json.loads((folder / "config.json").read_text())
    assert (config["rope_interleaved"], config["tie_word_embeddings"]) == (True, True)


def test_the_tokenizer_of_a_gguf_file_spells_exact_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    convert(_written(tmp_path), folder, _silent)
    ours = tokenizer.load(folder)
    ids = ours.encode_chat([Message("user", "ab aé\n")], continue_last=False)
    assert ids == [0, 5, 4, 2, 7, 8, 6, 1]
    assert [ours.token_bytes(each) for each in ids] == [b"", b"ab", b" ", b"a", b"\xc3", b"\xa9", b"\n", b""]
    assert ours.eos_ids == frozenset({1})


@pytest.mark.parametrize(("architecture", "pre"), [("mamba", "smollm"), ("llama", "unheard-of")])
def test_a_gguf_file_of_another_kind_is_refused(tmp_path: Path, architecture: str, pre: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    with pytest.raises(StartupError, match="not supported; use the model's safetensors folder"):
        convert(_written(tmp_path, architecture, pre), folder, _silent)
