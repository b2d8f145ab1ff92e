"""A Prompt as the JSON body of an OpenAI-compatible request. Pure.

Fields of the contract are always sent, so that a server's own defaults never decide; what only
some servers know (top_k, min_p, repetition_penalty, ignore_eos, ...) is sent only when it asks for
something, since strict servers refuse fields they do not know. It refuses to know the wire.
"""

from __future__ import annotations

from typing import Any

from app.prompt import Prompt

#: Whose streams can carry a running token count with each chunk (``owned_by`` of /v1/models).
COUNTING_SERVERS = frozenset({"vllm", "sglang"})


def path(prompt: Prompt) -> str:
    """Where it is sent, below ``/v1``: a raw text goes through no chat template."""
    return "/chat/completions" if prompt.text is None else "/completions"


def body(prompt: Prompt, model: str, owner: str = "") -> dict[str, Any]:
    """The request's JSON; ``owner`` is what the server says it is, and may be unknown."""
    options = {"include_usage": True}
    if owner in COUNTING_SERVERS:
        options["continuous_usage_stats"] = True
    said: dict[str, Any] = (
        {"messages": [{"role": m.role, "content": m.content} for m in prompt.messages]}
        if prompt.text is None
        else {"prompt": prompt.text}
    )
    return {
        "model": model,
        **said,
        "max_tokens": prompt.max_tokens,
        "temperature": prompt.sampling.temperature,
        "top_p": prompt.sampling.top_p,
        "stream": True,
        "stream_options": options,
        **_when_asked(prompt),
        **_logprobs(prompt),
    }


# Private


def _when_asked(prompt: Prompt) -> dict[str, Any]:
    sampling = prompt.sampling
    fields: dict[str, tuple[Any, Any]] = {
        # name: (value, the value that asks for nothing)
        "stop": (list(prompt.stop), []),
        "seed": (sampling.seed, None),
        "presence_penalty": (sampling.presence_penalty, 0.0),
        "frequency_penalty": (sampling.frequency_penalty, 0.0),
        "logit_bias": ({str(token): bias for token, bias in sampling.logit_bias.items()}, {}),
        "top_k": (sampling.top_k, 0),
        "min_p": (sampling.min_p, 0.0),
        "repetition_penalty": (sampling.repetition_penalty, 1.0),
        "min_tokens": (prompt.min_tokens, 0),
        "ignore_eos": (prompt.ignore_eos, False),
    }
    asked = {name: value for name, (value, nothing) in fields.items() if value != nothing}
    if prompt.continue_last:
        asked |= {"continue_final_message": True, "add_generation_prompt": False}
    return asked


def _logprobs(prompt: Prompt) -> dict[str, Any]:
    number = prompt.sampling.logprobs
    if number is None:
        return {}
    if prompt.text is not None:
        return {"logprobs": number}
    return {"logprobs": True, "top_logprobs": number}
