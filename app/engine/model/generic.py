"""Any other decoder-only model of transformers, through its own forward pass: slower, correct.

Each slot has transformers' own key/value cache, cut and copied as the scheduler asks; rows run
one sequence after the other, which keeps every model's masks and positions its own business.
Models whose state cannot be cut at a position (recurrent ones) are refused. It refuses to know
why a sequence is cut.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from app.engine.model.numerics import Numerics
from app.engine.runner_protocol import Chunk, DecodeRow
from app.engine.weights import ModelFolder
from app.errors import StartupError
from app.generation import ModelInfo
from app.settings import Settings

#: What configs call their context limit.
_CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length")


class GenericRunner:
    """One transformers model with a cache for each slot, which takes memory as it grows."""

    #: Its memory is no fixed number of slots: it is taken as tokens come.
    takes_kv_at_once = False

    def __init__(self, model: Any, info: ModelInfo, num_slots: int, context_tokens: int) -> None:
        self.info = info
        self.num_slots, self.context_tokens = num_slots, context_tokens
        self._model = model
        # Some models pad their head; the configured size is what tokens can be.
        self.vocab_size: int = model.config.get_text_config().vocab_size
        self._caches: dict[int, Any] = {}
        # Models differ in what their forward takes, and transformers is renaming the cache.
        self._arguments = frozenset(inspect.signature(model.forward).parameters)
        self._cache_name = "cache" if "cache" in self._arguments else "past_key_values"

    @torch.inference_mode()
    def step(self, chunks: Sequence[Chunk], decode: Sequence[DecodeRow]) -> torch.Tensor:
        """Float32 logits [chunks that want them + decode rows, vocab], one sequence after the other."""
        rows = []
        for chunk in chunks:
            last = self._forward(chunk.slot, chunk.start, chunk.token_ids)
            if chunk.wants_logits:
                rows.append(last)
        rows.extend(self._forward(slot, position, [token]) for slot, position, token in decode)
        return torch.stack(rows) if rows else torch.empty(0, self.vocab_size)

    @torch.inference_mode()
    def copy(self, src_slot: int, dst_slot: int, num_tokens: int) -> None:
        """Copy the keys and values of the first ``num_tokens`` positions."""
        from transformers import DynamicCache

        cache = DynamicCache()
        for index, layer in enumerate(self._cut(src_slot, num_tokens, keep=True).layers):
            keys, values = (each[:, :, :num_tokens].clone() for each in (layer.keys, layer.values))
            cache.update(keys, values, index)
        self._caches[dst_slot] = cache

    def release(self, slot: int, keep_tokens: int) -> None:
        """Let go of what lies behind ``keep_tokens`` positions."""
        if not keep_tokens:
            self._caches.pop(slot, None)
        elif slot in self._caches:
            _shorten(self._caches[slot], keep_tokens)

    def kv_bytes_per_token(self) -> int:
        """Bytes that one token of one sequence holds."""
        config = self._model.config.get_text_config()
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        size: int = config.num_hidden_layers * 2 * heads * head_dim * self._model.dtype.itemsize
        return size

    # Private

    def _forward(self, slot: int, start: int, token_ids: Sequence[int]) -> torch.Tensor:
        cache = self._cut(slot, start)
        device = self._model.device
        ids = torch.tensor([list(token_ids)], device=device)
        positions = torch.arange(start, start + len(token_ids), device=device)[None]
        known = self._arguments
        optional = {"position_ids": positions, "logits_to_keep": 1}
        given = {name: value for name, value in optional.items() if name in known}
        out = self._model(input_ids=ids, use_cache=True, **{self._cache_name: cache}, **given)
        last: torch.Tensor = out.logits[0, -1, : self.vocab_size].float()
        return last

    def _cut(self, slot: int, length: int, keep: bool = False) -> Any:
        """The slot's cache, holding exactly ``length`` positions (or, with ``keep``, at least)."""
        from transformers import DynamicCache

        if length == 0 and not keep:
            self._caches[slot] = DynamicCache()
        cache = self._caches.setdefault(slot, DynamicCache())
        held = cache.get_seq_length()
        if held < length:
            raise RuntimeError(f"slot {slot} holds {held} positions, {length} are needed")
        if held > length and not keep:
            _shorten(cache, length)
        return cache


def load(folder: ModelFolder, numerics: Numerics, settings: Settings) -> GenericRunner:
    """A runner for ``folder``'s model. Raises StartupError when transformers cannot run it so."""
    from transformers import AutoConfig, AutoModelForCausalLM

    # It has no packed operators, and without those a CPU is fastest, and right, in float32.
    is_free = numerics.packed and settings.dtype == "auto"
    dtype = torch.float32 if is_free else numerics.compute
    try:
        config = AutoConfig.from_pretrained(str(folder.path), trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            str(folder.path), config=config, dtype=dtype, use_safetensors=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise StartupError(f"model {folder.name} is not supported: {first}") from None
    model = model.to(numerics.device).eval()
    text = config.get_text_config()
    if getattr(model, "_is_stateful", False) or getattr(config, "is_encoder_decoder", False):
        raise StartupError(f"model {folder.name} is not supported: its state cannot be cut at a token")
    own = next((getattr(text, name) for name in _CONTEXT_NAMES if getattr(text, name, None)), 2048)
    context = min(own, settings.context_tokens or own)
    label = str(dtype).removeprefix("torch.")
    info = ModelInfo(folder.name, context, str(numerics.device), label)
    return GenericRunner(model, info, 2 * settings.max_batch, context)


# Private


def _shorten(cache: Any, length: int) -> None:
    """Cut every layer to its first ``length`` positions (``crop`` means different things by version)."""
    for layer in cache.layers:
        layer.keys, layer.values = layer.keys[:, :, :length], layer.values[:, :, :length]
