"""A GGUF file becomes a folder like any other model's: config, safetensors, tokenizer.

The groups of 4-bit and 8-bit weights are kept bit for bit (codes, scales and minima apart), so
that the packed operators compute with the file's own numbers. Tensors get the names Hugging Face
gives them, with a suffix for each part of a quantised one. Reads with ``gguf``, writes with
numpy: no torch here. It refuses to know where the folder lies and who reads it.

    x.weight.codes4  uint8 [out, in/2]   two codes a byte, the first in the low half
    x.weight.codes8  int8  [out, in]
    x.weight.scale   f16   [out, in/32]  weight = code * scale (+ min)
    x.weight.min     f16   [out, in/32]  4-bit only
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.engine.gguf_tokenizer import tokenizer_files
from app.errors import StartupError

GROUP = 32
FORMAT_VERSION = 1

Progress = Callable[[str, float | None], None]
Array = NDArray[Any]

#: GGUF architecture -> Hugging Face model_type. llama.cpp stores llama's query and key rows with
#: the two halves of each head interleaved; qwen's as they are.
_ARCHITECTURES = {"llama": ("llama", True), "qwen2": ("qwen2", False), "qwen3": ("qwen3", False)}

_TENSORS = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
}  # fmt: skip
_REFUSED = "is not supported; use the model's safetensors folder"
_OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def convert(file: Path, folder: Path, progress: Progress) -> None:
    """Write ``file``'s model into the existing, empty ``folder``.

    Raises StartupError when the file is no GGUF or its architecture or tokenizer is not known.
    """
    from gguf import GGUFReader
    from safetensors.numpy import save_file

    progress("reading the model file", None)
    try:
        reader = GGUFReader(file)
    except (ValueError, OSError) as error:
        raise StartupError(f"cannot read {file.name} as GGUF: {error}") from None
    meta = _Metadata(reader)
    config, interleaved = _config(meta, {tensor.name for tensor in reader.tensors})
    config["rope_interleaved"] = interleaved
    files = tokenizer_files(meta.get)
    arrays: dict[str, Array] = {}
    for done, tensor in enumerate(reader.tensors):
        progress("converting the model (only the first time)", done / len(reader.tensors))
        name = _name(tensor.name)
        if name is not None:
            arrays.update(_parts(name, tensor))
    save_file(arrays, folder / "model.safetensors")
    for path, text in {**files, "config.json": json.dumps(config, indent=1)}.items():
        (folder / path).write_text(text, encoding="utf-8")


# Private


class _Metadata:
    """The file's key-value pairs, by name; None for what is missing."""

    def __init__(self, reader: Any) -> None:
        self._fields = reader.fields

    def get(self, key: str) -> Any:
        field = self._fields.get(key)
        return None if field is None else field.contents()


def _config(meta: _Metadata, tensors: set[str]) -> tuple[dict[str, Any], bool]:
    """The config.json, and whether query and key rows are interleaved."""
    name = meta.get("general.architecture")
    if name not in _ARCHITECTURES:
        raise StartupError(f"GGUF architecture {name!r} {_REFUSED}")
    if meta.get(f"{name}.expert_count"):
        raise StartupError(f"GGUF's mixture of experts {_REFUSED}")
    if meta.get(f"{name}.rope.scaling.type") not in (None, "none") or "rope_freqs.weight" in tensors:
        raise StartupError(f"GGUF's rope scaling {_REFUSED}")
    model_type, interleaved = _ARCHITECTURES[name]
    heads, hidden = meta.get(f"{name}.attention.head_count"), meta.get(f"{name}.embedding_length")
    config = {
        "model_type": model_type,
        "architectures": [f"{model_type.capitalize()}ForCausalLM"],
        "hidden_size": hidden,
        "intermediate_size": meta.get(f"{name}.feed_forward_length"),
        "num_hidden_layers": meta.get(f"{name}.block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": meta.get(f"{name}.attention.head_count_kv") or heads,
        "head_dim": meta.get(f"{name}.attention.key_length") or hidden // heads,
        "max_position_embeddings": meta.get(f"{name}.context_length"),
        "rms_norm_eps": meta.get(f"{name}.attention.layer_norm_rms_epsilon"),
        "rope_theta": meta.get(f"{name}.rope.freq_base") or 10_000.0,
        "hidden_act": "silu",
        "vocab_size": len(meta.get("tokenizer.ggml.tokens")),
        "tie_word_embeddings": "output.weight" not in tensors,
        "eos_token_id": meta.get("tokenizer.ggml.eos_token_id"),
        "display_name": meta.get("general.name"),
    }
    return config, interleaved


def _name(gguf_name: str) -> str | None:
    """``blk.3.attn_q.weight`` -> ``model.layers.3.self_attn.q_proj.weight``."""
    stem, _, kind = gguf_name.rpartition(".")
    if stem in _OUTER:
        return f"{_OUTER[stem]}.{kind}"
    parts = stem.split(".")
    if len(parts) == 3 and parts[0] == "blk" and parts[2] in _TENSORS:
        return f"model.layers.{parts[1]}.{_TENSORS[parts[2]]}.{kind}"
    return None


def _parts(name: str, tensor: Any) -> Iterator[tuple[str, Array]]:
    """The arrays one tensor is stored as. ``tensor.data`` is [out, bytes of a row] when quantised."""
    kind = tensor.tensor_type.name
    if kind in ("F32", "F16"):
        yield name, np.ascontiguousarray(tensor.data)
    elif kind in ("Q4_0", "Q4_1"):
        yield from _four_bit(name, tensor.data, has_min=kind == "Q4_1")
    elif kind == "Q8_0":
        blocks = tensor.data.reshape(tensor.data.shape[0], -1, 2 + GROUP)
        yield f"{name}.codes8", np.ascontiguousarray(blocks[:, :, 2:]).view(np.int8).reshape(len(blocks), -1)
        yield f"{name}.scale", np.ascontiguousarray(blocks[:, :, :2]).view(np.float16)[..., 0]
    else:
        from gguf.quants import dequantize

        # Other formats have no operator here: their values are kept, not their groups.
        yield name, dequantize(tensor.data, tensor.tensor_type).astype(np.float16)


def _four_bit(name: str, data: Array, has_min: bool) -> Iterator[tuple[str, Array]]:
    """A block: fp16 scale (, fp16 minimum), 16 bytes: codes 0-15 in the low halves, 16-31 in the high."""
    head = 4 if has_min else 2
    blocks = data.reshape(data.shape[0], -1, head + GROUP // 2)
    packed = blocks[:, :, head:]
    codes = np.concatenate([packed & 15, packed >> 4], axis=-1).reshape(len(blocks), -1)
    scale = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16)[..., 0]
    # Q4_0 is weight = scale * (code - 8): a minimum of -8 scales, exact in fp16.
    low = scale * np.float16(-8)
    if has_min:
        low = np.ascontiguousarray(blocks[:, :, 2:4]).view(np.float16)[..., 0]
    yield f"{name}.codes4", codes[:, 0::2] | (codes[:, 1::2] << 4)
    yield f"{name}.scale", scale
    yield f"{name}.min", low
