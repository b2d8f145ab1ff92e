"""Small random models written to a folder as safetensors, and transformers' own answer for them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import torch

from app.engine.model.architecture import parse
from app.engine.model.batch import lay_out
from app.engine.model.load import form
from app.engine.model.numerics import Numerics, choose
from app.engine.model.runner import Runner
from app.engine.model.tensors import Tensors
from app.engine.runner_protocol import Chunk
from app.generation import ModelInfo
from app.settings import Settings

VOCABULARY = 97
_SIZES = {
    "vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256,
    "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0,
}  # fmt: skip


def config_of(family: str) -> Any:
    """A transformers config of two small layers."""
    import transformers as t

    if family == "llama":
        return t.LlamaConfig(**_SIZES, tie_word_embeddings=False)
    if family == "llama3":
        rope = {
            "rope_type": "llama3", "rope_theta": 10_000.0, "factor": 8.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 64,
        }  # fmt: skip
        biases = {"attention_bias": True, "mlp_bias": True}
        return t.LlamaConfig(**_SIZES, rope_parameters=rope, tie_word_embeddings=True, **biases)
    if family == "mistral":
        return t.MistralConfig(**_SIZES, sliding_window=None, head_dim=24)
    if family == "qwen2":
        return t.Qwen2Config(**_SIZES, tie_word_embeddings=True)
    if family == "qwen3":
        return t.Qwen3Config(**_SIZES, head_dim=32)
    if family == "gpt2":
        return t.GPT2Config(
            vocab_size=VOCABULARY, n_embd=64, n_layer=2, n_head=4, n_positions=256,
            bos_token_id=1, eos_token_id=2,
        )  # fmt: skip
    assert family == "gpt_neox"
    sizes = {k: v for k, v in _SIZES.items() if k != "num_key_value_heads"}
    return t.GPTNeoXConfig(**sizes)


def make(family: str, folder: Path) -> Any:
    """Write a random model of ``family`` into ``folder``; the transformers model, in float32."""
    from transformers import AutoModelForCausalLM

    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_config(config_of(family)).float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # Fresh biases are 0 and norms 1, which would hide that they are forgotten.
            parameter.add_(torch.randn_like(parameter) * (0.3 if parameter.dim() == 1 else 0.05))
            assert name
    model.save_pretrained(folder, safe_serialization=True)
    return model


def reference(model: Any, token_ids: list[int]) -> torch.Tensor:
    """transformers' logits for every position: [tokens, vocab]."""
    with torch.inference_mode():
        logits: torch.Tensor = model(torch.tensor([token_ids]), use_cache=False).logits[0].float()
    return logits


def all_logits(runner: Runner, token_ids: list[int], width: int) -> torch.Tensor:
    """Our logits for every position, ``width`` rows a step: [tokens, vocab]."""
    out = []
    with torch.inference_mode():
        for start in range(0, len(token_ids), width):
            batch = lay_out([Chunk(0, start, token_ids[start : start + width], False)], [])
            everyone = dataclasses.replace(batch, wanted=list(range(len(batch.token_ids))))
            out.append(runner.model.run(everyone, runner.kv))
    return torch.cat(out)


def runner_of(folder: Path, slots: int = 6, dtype: str | Numerics = "float32", device: str = "cpu") -> Runner:
    """Our hand-written runner over ``folder``."""
    import json

    arch = parse(json.loads((folder / "config.json").read_text()))
    assert arch is not None
    numerics = choose(device, dtype) if isinstance(dtype, str) else dtype
    model = form(numerics, Settings())(Tensors(folder), arch, numerics, lambda part: None)
    context = min(arch.context_tokens, 256)
    return Runner(model, ModelInfo("small", context), slots, context)
