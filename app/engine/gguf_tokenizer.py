"""The tokenizer inside a GGUF file becomes tokenizer.json, its config and the chat template.

Only byte-level BPE (``tokenizer.ggml.model`` "gpt2"): each vocabulary splits text before merging
in its own way, named by ``tokenizer.ggml.pre``; an unknown way is refused rather than guessed,
because a wrong split gives plausible, worse text. It refuses to know tensors and files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from app.errors import StartupError

# What llama.cpp calls the token types of special and of user-defined tokens.
_CONTROL, _USER_DEFINED = 3, 4

_QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LLAMA3 = _QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")


def tokenizer_files(meta: Callable[[str], Any]) -> dict[str, str]:
    """File name -> text, from the metadata getter ``meta``. Raises StartupError when unknown."""
    model, pre = meta("tokenizer.ggml.model"), meta("tokenizer.ggml.pre") or "default"
    if model != "gpt2" or pre not in _SPLITS:
        raise StartupError(
            f"GGUF tokenizer {model}/{pre} is not supported; use the model's safetensors folder"
        )
    tokens: list[str] = meta("tokenizer.ggml.tokens")
    types, merges = meta("tokenizer.ggml.token_type"), meta("tokenizer.ggml.merges")
    config: dict[str, Any] = {"tokenizer_class": "PreTrainedTokenizerFast"}
    for name in ("bos", "eos"):
        token_id = meta(f"tokenizer.ggml.{name}_token_id")
        if token_id is not None:
            config[f"{name}_token"] = tokens[token_id]
    config["add_bos_token"] = bool(meta("tokenizer.ggml.add_bos_token"))
    files = {
        "tokenizer.json": _tokenizer_json(tokens, types, merges, pre),
        "tokenizer_config.json": json.dumps(config, indent=1),
    }
    template = meta("tokenizer.chat_template")
    if template:
        files["chat_template.jinja"] = template
    return files


# Private


def _by_digits() -> Any:
    from tokenizers import pre_tokenizers as pre

    return pre.Sequence([pre.Digits(individual_digits=True), _plain()])


def _by_regex(pattern: str) -> Callable[[], Any]:
    def make() -> Any:
        from tokenizers import Regex
        from tokenizers import pre_tokenizers as pre

        split = pre.Split(Regex(pattern), behavior="isolated")
        return pre.Sequence([split, pre.ByteLevel(add_prefix_space=False, use_regex=False)])

    return make


def _plain() -> Any:
    from tokenizers import pre_tokenizers as pre

    return pre.ByteLevel(add_prefix_space=False, use_regex=True)


_SPLITS: dict[str, Callable[[], Any]] = {
    "smollm": _by_digits,
    "gpt-2": _plain,
    "qwen2": _by_regex(_QWEN),
    "llama-bpe": _by_regex(_LLAMA3),
}


def _tokenizer_json(tokens: list[str], types: list[int], merges: list[str], pre: str) -> str:
    from tokenizers import AddedToken, Tokenizer, decoders, models

    vocabulary = {token: index for index, token in enumerate(tokens)}
    pairs = [(left, right) for left, _, right in (merge.partition(" ") for merge in merges)]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs, ignore_merges=pre == "llama-bpe"))
    tokenizer.pre_tokenizer = _SPLITS[pre]()
    tokenizer.decoder = decoders.ByteLevel()
    for token, kind in zip(tokens, types, strict=True):
        if kind in (_CONTROL, _USER_DEFINED):
            added = AddedToken(token, normalized=False, special=kind == _CONTROL)
            tokenizer.add_special_tokens([added]) if kind == _CONTROL else tokenizer.add_tokens([added])
    return str(tokenizer.to_str())
