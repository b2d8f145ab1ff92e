"""Runs steps of a Llama-like model: slots and positions in, logits out.

It joins the rows (batch), the memory (kv_tensors) and the forward pass (llama or compiled), and knows neither
prompts nor sampling. One thread calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from app.engine.model.architecture import Architecture
from app.engine.model.batch import Batch, batches
from app.engine.model.kv_tensors import TOGETHER, KVTensors
from app.engine.model.llama import Llama
from app.engine.model.numerics import Numerics
from app.engine.model.static_decode import StaticDecode
from app.engine.runner_protocol import Chunk, DecodeRow
from app.generation import ModelInfo


class Model(Protocol):
    """The forward pass in one of its forms."""

    @property
    def arch(self) -> Architecture: ...

    @property
    def numerics(self) -> Numerics: ...

    def run(self, batch: Batch, cache: KVTensors) -> torch.Tensor:
        """Write keys and values of the batch's rows; float32 logits of the wanted ones."""
        ...


class Runner:
    """One loaded model with its KV memory."""

    def __init__(self, model: Model, info: ModelInfo, num_slots: int, context_tokens: int) -> None:
        self.info = info
        self.num_slots, self.context_tokens = num_slots, context_tokens
        self.vocab_size = model.arch.vocab
        self.model = model
        on_cuda = model.numerics.device.type == "cuda"
        self.kv = KVTensors(
            layers=model.arch.layers,
            # One more where rows are padded: what padding writes must land nowhere.
            slots=num_slots + on_cuda,
            kv_heads=model.arch.kv_heads,
            context=-(-context_tokens // TOGETHER) * TOGETHER,
            head_dim=model.arch.head_dim,
            dtype=model.numerics.kv,
            device=model.numerics.device,
        )
        #: Whether all KV memory there will be is taken already; else a page is when it is written.
        self.takes_kv_at_once = model.numerics.device.type != "cpu"
        self._static: StaticDecode | None = None
        if on_cuda and isinstance(model, Llama):
            self._static = StaticDecode(model, self.kv, num_slots, context_tokens, graphs=True)

    @torch.inference_mode()
    def step(self, chunks: Sequence[Chunk], decode: Sequence[DecodeRow]) -> torch.Tensor:
        """Write the tokens' keys and values; float32 logits [chunks that want them + decode, vocab]."""
        logits = torch.empty(0, self.vocab_size)
        if chunks or decode:
            numerics = self.model.numerics
            for batch in batches(chunks, decode, numerics.apart_rows, numerics.own_pass):
                logits = self._forward(batch)
        return logits

    @torch.inference_mode()
    def copy(self, src_slot: int, dst_slot: int, num_tokens: int) -> None:
        """Copy the keys and values of the first ``num_tokens`` positions."""
        self.kv.copy(src_slot, dst_slot, num_tokens)

    def release(self, slot: int, keep_tokens: int) -> None:
        """Give the memory behind ``keep_tokens`` positions back to the system."""
        self.kv.release(slot, keep_tokens)

    def kv_bytes_per_token(self) -> int:
        """Bytes that one token of one sequence holds."""
        return self.kv.bytes_per_token

    # Private

    def _forward(self, batch: Batch) -> torch.Tensor:
        if self._static is not None and not batch.spans:
            return self._static(batch)
        return self.model.run(batch, self.kv)
