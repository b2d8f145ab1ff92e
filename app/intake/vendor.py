"""What the two vendors' dialects have in common: text in parts, model names. Pure.

Both write a message's content as a string or as a list of typed parts. Text parts are taken, all
other kinds are refused by name, since an answer that silently ignored an image would be wrong. It
refuses to know which vendor asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.errors import NotFound
from app.intake.fields import Fields
from app.intake.prompt import check_size
from app.prompt import Message, Role
from app.settings import Settings

#: A message in parts rarely has more than one; this many fit into any body we take.
_MAX_PARTS = 1024


def check_model(asked: str, served: str) -> None:
    """A request may name the served model, a beginning of its name (smol), or "default".

    Raises NotFound for any other: a client that believes it talks to another model should know.
    """
    if asked != "default" and not (asked and served.lower().startswith(asked.lower())):
        raise NotFound(
            f"The model {asked[:100]!r} is not served here; this server has {served!r}, also as 'default'.",
            param="model",
        )


def refuse(fields: Fields, unsupported: Mapping[str, tuple[Any, ...]]) -> None:
    """Raises BadRequest for a field that is there and asks for something, by its name.

    ``unsupported`` maps each name to the values of it that ask for nothing.
    """
    for name, harmless in unsupported.items():
        value = fields.raw(name)
        if value is not None and value not in harmless:
            raise fields.wrong(name, "is not supported here")


def read_messages(fields: Fields, roles: Mapping[str, Role], settings: Settings) -> tuple[Message, ...]:
    """``messages`` with each role translated by ``roles``."""
    messages = tuple(_message(entry, roles) for entry in fields.objects("messages", settings.max_messages))
    check_size(messages, settings)
    if not any(message.content for message in messages):
        raise fields.wrong("messages", "have no text: there is nothing to answer")
    return messages


def content_text(fields: Fields, name: str) -> str:
    """A content, string or text parts, as one string."""
    if not isinstance(fields.raw(name), list):
        return fields.string(name)
    return "".join(_part(part) for part in fields.objects(name, _MAX_PARTS))


# Private


def _message(fields: Fields, roles: Mapping[str, Role]) -> Message:
    fields.require("role")
    role = fields.choice("role", tuple(roles), "")
    refuse(fields, {"tool_calls": ([],), "function_call": (), "audio": ()})
    return Message(roles[role], content_text(fields, "content"))


def _part(fields: Fields) -> str:
    kind = fields.string("type")
    if kind != "text":
        raise fields.wrong("type", f"is {kind[:40]!r}; only 'text' is supported here")
    return fields.string("text")
