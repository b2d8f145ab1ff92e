"""KV memory: what is held follows what is written, and release gives it back."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from app.engine.model.kv_tensors import TOGETHER, KVTensors
from app.errors import StartupError

SLOTS, CONTEXT = 8, 4096


def _kv(context: int = CONTEXT, slots: int = SLOTS, head_dim: int = 64) -> KVTensors:
    return KVTensors(
        layers=4, slots=slots, kv_heads=2, context=context, head_dim=head_dim,
        dtype=torch.float32, device=torch.device("cpu"),
    )  # fmt: skip


def _write(kv: KVTensors, slot: int, start: int, end: int) -> None:
    for layer in range(4):
        kv.layer(layer)[:, slot, :, start:end] = float(slot + 1)


def _resident_bytes() -> int:
    """This process's resident memory, from the kernel."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and gives pages back")


@needs_linux
def test_memory_held_is_proportional_to_tokens_held() -> None:
    kv = _kv()
    per_token = kv.bytes_per_token
    assert per_token == 4 * 2 * 2 * 64 * 4
    _write(kv, 0, 0, 2048)  # the operators' own first use takes memory too
    kv.release(0, 0)
    before = _resident_bytes()
    _write(kv, 3, 0, 2048)
    full = _resident_bytes() - before
    assert 0.9 < full / (2048 * per_token) < 1.3
    kv.release(3, 512)
    kept = _resident_bytes() - before
    assert 0.9 < kept / (512 * per_token) < 2.0
    kv.release(3, 0)
    assert _resident_bytes() - before < 512 * per_token / 2


def test_release_keeps_what_is_to_be_kept_and_other_slots() -> None:
    kv = _kv()
    for slot in (2, 3, 4):
        _write(kv, slot, 0, 300)
    kv.release(3, 101)
    for layer in range(4):
        assert (kv.layer(layer)[:, 3, :, :101] == 4).all()
        assert (kv.layer(layer)[:, 2, :, :300] == 3).all()
        assert (kv.layer(layer)[:, 4, :, :300] == 5).all()


@pytest.mark.parametrize("num_tokens", [1, TOGETHER - 1, TOGETHER, TOGETHER + 1])
def test_a_copy_takes_the_tokens_named_and_what_shares_their_block(num_tokens: int) -> None:
    kv = _kv()
    _write(kv, 0, 0, 3 * TOGETHER)
    kv.copy(0, 7, num_tokens)
    end = TOGETHER if num_tokens <= TOGETHER else 2 * TOGETHER
    assert (kv.layer(1)[:, 7, :, :end] == 1).all()
    assert (kv.layer(1)[:, 7, :, end:] == 0).all()


@pytest.mark.parametrize("head_dim", [64, 128, 256])
@pytest.mark.parametrize("keep", [1, 5, TOGETHER, TOGETHER + 1])
def test_a_block_of_which_one_token_is_kept_is_kept_whole(head_dim: int, keep: int) -> None:
    """A block may lie in several pages; the compiled pass has parts of each of its keys in all of them."""
    kv = _kv(head_dim=head_dim)
    _write(kv, 3, 0, 4 * TOGETHER)
    kv.release(3, keep)
    end = TOGETHER if keep <= TOGETHER else 2 * TOGETHER
    assert (kv.layer(1)[:, 3, :, :end] == 4).all()


def test_more_room_than_there_is_memory_is_fine_until_it_is_written() -> None:
    kv = _kv(context=1 << 20, slots=64)  # 256 GiB of addresses
    _write(kv, 63, 0, 16)
    assert (kv.layer(0)[0, 63, :, :16] == 64).all()


def test_more_room_than_there_are_addresses_is_one_clear_line() -> None:
    with pytest.raises(StartupError, match="FIRSTWORD_CONTEXT_TOKENS"):
        _kv(context=1 << 40)
