"""OpenAI's JSON -> Prompts: one for each of the ``n`` answers asked for. Pure.

What we cannot do is refused with the field's name (tools, images, audio, JSON mode, ...). What makes
no difference to the text is let be (user, store, metadata, service_tier, ...), and so is every field
that we do not know, as each release of the SDK brings new ones. Beyond OpenAI's own fields some of
vLLM's are understood: top_k, min_p, repetition_penalty, min_tokens, ignore_eos and
continue_final_message. Where a field is missing OpenAI's default holds, not ours: temperature 1, and
16 tokens for a completion. It refuses to know frames and replies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from app.errors import BadRequest
from app.intake.fields import Fields
from app.intake.sampling import read_sampling
from app.intake.vendor import check_model, read_messages, refuse
from app.prompt import Prompt, Role, Sampling
from app.settings import Settings

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
#: Field -> the values of it that ask for nothing: many clients always send them.
_UNSUPPORTED_IN_CHAT: dict[str, tuple[Any, ...]] = {
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "functions": ([],),
    "function_call": ("none", "auto"),
    "audio": (),
    "modalities": (["text"],),
    "response_format": ({"type": "text"},),
    "web_search_options": (),
}
_UNSUPPORTED_IN_TEXT: dict[str, tuple[Any, ...]] = {"echo": (False,), "suffix": ("",), "best_of": (1,)}
#: OpenAI's own limit and default.
_MAX_TOP_LOGPROBS = 20
_COMPLETION_TOKENS = 16


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its sequences, and how the answer is to be written."""

    prompts: tuple[Prompt, ...]
    stream: bool
    include_usage: bool
    logprobs: bool


def read_chat(body: object, settings: Settings, model: str, new_id: Callable[[], str]) -> Asked:
    """``POST /v1/chat/completions``. Raises BadRequest, or NotFound for another model's name."""
    fields = Fields(body)
    check_model(fields.string("model"), model)
    refuse(fields, _UNSUPPORTED_IN_CHAT)
    messages = read_messages(fields, _ROLES, settings)
    continue_last = fields.boolean("continue_final_message", False)
    if continue_last and messages[-1].role != "assistant":
        raise BadRequest(
            "continue_final_message needs the last message to be the assistant's",
            param="continue_final_message",
        )
    logprobs = fields.boolean("logprobs", False)
    top_logprobs = fields.integer("top_logprobs", 0, _MAX_TOP_LOGPROBS, 0)
    if top_logprobs and not logprobs:
        raise BadRequest("top_logprobs needs logprobs to be true", param="top_logprobs")
    limit = settings.max_output_tokens
    max_tokens = fields.integer("max_tokens", 1, limit, min(settings.default_output_tokens, limit))
    prompt = Prompt(
        id="",
        messages=messages,
        continue_last=continue_last,
        max_tokens=fields.integer("max_completion_tokens", 1, limit, max_tokens),
    )
    return _asked(fields, settings, prompt, top_logprobs if logprobs else None, new_id)


def read_text(body: object, settings: Settings, model: str, new_id: Callable[[], str]) -> Asked:
    """``POST /v1/completions``. Raises as read_chat."""
    fields = Fields(body)
    check_model(fields.string("model"), model)
    refuse(fields, _UNSUPPORTED_IN_TEXT)
    limit = settings.max_output_tokens
    prompt = Prompt(
        id="",
        text=_one_text(fields, settings),
        max_tokens=fields.integer("max_tokens", 1, limit, min(_COMPLETION_TOKENS, limit)),
    )
    logprobs = fields.integer("logprobs", 0, _MAX_TOP_LOGPROBS, None)
    return _asked(fields, settings, prompt, logprobs, new_id)


# Private


def _asked(
    fields: Fields, settings: Settings, prompt: Prompt, logprobs: int | None, new_id: Callable[[], str]
) -> Asked:
    """What both endpoints share, and the prompt n times."""
    prompt = msgspec.structs.replace(
        prompt,
        min_tokens=fields.integer("min_tokens", 0, prompt.max_tokens, 0),
        stop=fields.strings("stop", settings.max_stop_strings, settings.max_stop_chars),
        ignore_eos=fields.boolean("ignore_eos", False),
    )
    sampling = read_sampling(fields, logprobs=logprobs)
    stream = fields.boolean("stream", False)
    include_usage = _include_usage(fields, stream)
    n = fields.integer("n", 1, settings.max_choices, 1)
    prompts = tuple(
        msgspec.structs.replace(prompt, id=new_id(), sampling=_reseeded(sampling, index))
        for index in range(n)
    )
    return Asked(prompts, stream, include_usage, logprobs is not None)


def _reseeded(sampling: Sampling, index: int) -> Sampling:
    """One seed would make all n answers the same; each takes the next, and stays repeatable."""
    if sampling.seed is None or index == 0:
        return sampling
    return msgspec.structs.replace(sampling, seed=sampling.seed + index)


def _one_text(fields: Fields, settings: Settings) -> str:
    """``prompt``: a string, or a list of one. Lists of tokens and of many prompts are refused."""
    value = fields.raw("prompt")
    if isinstance(value, list):
        if len(value) != 1 or not isinstance(value[0], str):
            raise fields.wrong("prompt", "must be one string; tokens and several prompts are not supported")
        fields = Fields({"prompt": value[0]})
    text = fields.string("prompt", settings.max_prompt_chars)
    if not text:
        raise fields.wrong("prompt", "is empty")
    return text


def _include_usage(fields: Fields, stream: bool) -> bool:
    if not fields.has("stream_options"):
        return False
    if not stream:
        raise fields.wrong("stream_options", "needs stream to be true")
    return Fields(fields.raw("stream_options"), "stream_options").boolean("include_usage", False)
