"""The shape of a Llama-like model, read from its config.json.

Says which models the hand-written forward pass can run: Llama, SmolLM2, Mistral, Qwen2/2.5 and
Qwen3, with grouped query heads, biases, query/key norms and the usual rotary scalings. Everything
else is None here and goes through transformers. Pure: no torch, no files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

_FAMILIES = frozenset({"llama", "mistral", "qwen2", "qwen3"})
_ROPE_TYPES = frozenset({"default", "linear", "llama3"})


@dataclass(frozen=True, slots=True)
class Architecture:
    """Sizes in elements; ``context_tokens`` is the model's own limit."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    norm_eps: float
    tied: bool
    context_tokens: int
    #: Radians that each pair of a head turns with one position: [head_dim / 2].
    rotary: tuple[float, ...]
    #: Whether the weights' query and key rows already lie in pairs (GGUF's llama) or in halves.
    rotary_in_pairs: bool


def parse(config: dict[str, Any]) -> Architecture | None:
    """The architecture of a config.json, or None when it is not one of ours."""
    rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type", "default"))
    plain = (
        config.get("model_type") in _FAMILIES
        and kind in _ROPE_TYPES
        and config.get("hidden_act", "silu") == "silu"
        and not config.get("use_sliding_window")
        and rope.get("partial_rotary_factor", 1.0) == 1.0
        and "quantization_config" not in config
    )
    if not plain:
        return None
    heads = config["num_attention_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    theta = rope.get("rope_theta", config.get("rope_theta", 10_000.0))
    context = config.get("max_position_embeddings", 2048)
    if config.get("model_type") == "mistral" and config.get("sliding_window"):
        # Full attention is the same as the model's sliding one up to its window, and no further.
        context = min(context, config["sliding_window"])
    return Architecture(
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        intermediate=config["intermediate_size"],
        heads=heads,
        kv_heads=config.get("num_key_value_heads") or heads,
        head_dim=head_dim,
        vocab=config["vocab_size"],
        norm_eps=config.get("rms_norm_eps", 1e-6),
        # Llama-like configs that say nothing mean their family's default, which is untied.
        tied=bool(config.get("tie_word_embeddings", False)),
        context_tokens=context,
        rotary=_scaled([theta ** (-2 * i / head_dim) for i in range(head_dim // 2)], kind, rope),
        rotary_in_pairs=bool(config.get("rope_interleaved", False)),
    )


# Private


def _scaled(frequencies: list[float], kind: str, rope: dict[str, Any]) -> tuple[float, ...]:
    if kind == "linear":
        return tuple(f / rope["factor"] for f in frequencies)
    if kind == "llama3":
        return tuple(_llama3(f, rope) for f in frequencies)
    return tuple(frequencies)


def _llama3(frequency: float, rope: dict[str, Any]) -> float:
    """Slow turns are slowed by the factor, fast ones kept, and those between are blended."""
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    turns = rope["original_max_position_embeddings"] * frequency / (2 * math.pi)
    keep: float = min(1.0, max(0.0, (turns - low) / (high - low)))
    slow: float = frequency / rope["factor"]
    return keep * frequency + (1 - keep) * slow
