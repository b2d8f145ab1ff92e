"""Anthropic's JSON -> one Prompt. Pure.

The system text stands beside the messages and becomes the first of them. When the last message is
the assistant's, it is the beginning of the answer and is gone on with, as their contract has it.
Tools, images, documents and thinking are refused with the field's name; metadata, service_tier,
cache_control and fields we do not know are let be. It refuses to know frames and replies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.intake.fields import Fields
from app.intake.prompt import check_size
from app.intake.sampling import read_sampling
from app.intake.vendor import check_model, content_text, read_messages, refuse
from app.prompt import Message, Prompt, Role
from app.settings import Settings

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
#: Field -> the values of it that ask for nothing.
_UNSUPPORTED: dict[str, tuple[Any, ...]] = {
    "tools": ([],),
    "tool_choice": ({"type": "none"}, {"type": "auto"}),
    "thinking": ({"type": "disabled"},),
    "output_format": (),
    "container": (),
    "mcp_servers": ([],),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: its sequence, and whether the answer is to be streamed."""

    prompt: Prompt
    stream: bool


def read_message(body: object, settings: Settings, model: str, new_id: Callable[[], str]) -> Asked:
    """``POST /v1/messages``. Raises BadRequest, or NotFound for another model's name."""
    fields = Fields(body)
    messages = _conversation(fields, settings, model)
    fields.require("max_tokens")
    prompt = Prompt(
        id=new_id(),
        messages=messages,
        continue_last=messages[-1].role == "assistant",
        sampling=read_sampling(fields, max_temperature=1.0),
        max_tokens=fields.integer("max_tokens", 1, settings.max_output_tokens, 1),
        stop=fields.strings("stop_sequences", settings.max_stop_strings, settings.max_stop_chars),
    )
    return Asked(prompt, fields.boolean("stream", False))


def read_counted(body: object, settings: Settings, model: str) -> Prompt:
    """``POST /v1/messages/count_tokens``: the same conversation, and nothing about an answer."""
    messages = _conversation(Fields(body), settings, model)
    return Prompt(id="", messages=messages, continue_last=messages[-1].role == "assistant")


# Private


def _conversation(fields: Fields, settings: Settings, model: str) -> tuple[Message, ...]:
    check_model(fields.string("model"), model)
    refuse(fields, _UNSUPPORTED)
    output = fields.raw("output_config")
    if output is not None:
        refuse(Fields(output, "output_config"), {"format": ()})
    messages = read_messages(fields, _ROLES, settings)
    if fields.has("system"):
        messages = (Message("system", content_text(fields, "system")), *messages)
        check_size(messages, settings)
    return messages
