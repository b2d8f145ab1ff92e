"""Reading: how a reply is to be read, from the fields of a request. Pure.

What to generate is intake's; this is the rest of a ``start`` or ``attach``: pace, place, acks, how
many readers to wait for. Whatever neither of them knows is refused by its name.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast, get_args

from msgspec import inspect

from app.generation import Engine
from app.intake.fields import Fields
from app.intake.prompt import PROMPT_FIELDS, read_prompt, read_question
from app.prompt import Prompt
from app.replay.library import shipped
from app.replay.player import Player
from app.reply.flow import SlowPolicy
from app.reply.link import Link
from app.reply.pace import PACES, Pace
from app.settings import Settings

#: The client's own name for a reply; a UUID has 36.
MAX_ID_CHARS = 128
_POLICIES: tuple[SlowPolicy, ...] = get_args(SlowPolicy)
_MAX_SEQ = 2**53
#: A fair race has two; a classroom joins by other means.
_MAX_AWAITED = 16
_LINK_FIELDS = cast(inspect.StructType, inspect.type_info(Link)).fields


@dataclass(frozen=True, slots=True)
class Reading:
    """One cursor to come: behind delta ``after``, at a pace, advanced by acks or by the transport."""

    pace: Pace = "token"
    after: int = 0
    acks: bool = False
    #: A simulated network on its way; None: nothing but the real one.
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """A reply to be started and its first reading."""

    prompt: Prompt
    reading: Reading
    id: str | None = None
    await_readers: int = 0
    slow_policy: SlowPolicy | None = None
    #: What generates it, where it is not the server's own engine: a recording's player.
    engine: Engine | None = None


def new_reply_id() -> str:
    """Unguessable: knowing it is what lets a reader in."""
    return secrets.token_urlsafe(12)


def read_start(fields: Fields, settings: Settings, new_id: Callable[[], str] = new_reply_id) -> Start:
    """A ``start`` frame, or the body of ``POST /api/replies``. Raises BadRequest, NotFound."""
    player = read_recording(fields)
    start = Start(
        prompt=player.prompt(new_id()) if player else read_prompt(fields, settings, new_id()),
        reading=Reading(pace=read_pace(fields), acks=fields.boolean("acks", False), link=read_link(fields)),
        id=read_id(fields),
        await_readers=fields.integer("await_readers", 0, _MAX_AWAITED, 0),
        slow_policy=fields.choice("slow_policy", _POLICIES, None),
        engine=player,
    )
    fields.refuse_others()
    return start


def read_recording(fields: Fields) -> Player | None:
    """The player of a shipped recording, when one is named instead of a prompt. Raises NotFound."""
    id = fields.text("recording", None, MAX_ID_CHARS)
    if id is None:
        return None
    for name in PROMPT_FIELDS:
        if fields.has(name):
            raise fields.wrong(name, "cannot be given together with recording, which has its own")
    return shipped().player(id)


def read_lesson(fields: Fields, settings: Settings, new_id: Callable[[], str] = new_reply_id) -> Start:
    """The query or body of ``/generate-stream`` and ``/generate-full``. Raises BadRequest."""
    start = Start(
        read_question(fields, settings, new_id()), Reading(pace=read_pace(fields), link=read_link(fields))
    )
    fields.refuse_others()
    return start


def read_attach(fields: Fields) -> tuple[str, Reading]:
    """An ``attach`` frame: which reply, and how. Raises BadRequest."""
    reply = fields.string("reply", MAX_ID_CHARS)
    reading = Reading(read_pace(fields), read_after(fields), fields.boolean("acks", False), read_link(fields))
    fields.refuse_others()
    return reply, reading


def read_place(fields: Fields) -> Reading:
    """How a reply that is named by its address is read: the query of HTTP reads. Raises BadRequest."""
    return Reading(read_pace(fields), read_after(fields), link=read_link(fields))


def read_ack(fields: Fields) -> tuple[str, int]:
    """An ``ack`` frame: which reply, and up to which delta. Raises BadRequest."""
    fields.require("reply", "seq")
    reply, seq = fields.string("reply", MAX_ID_CHARS), fields.integer("seq", 0, _MAX_SEQ, 0)
    fields.refuse_others()
    return reply, seq


def read_pace(fields: Fields) -> Pace:
    """How much text at once; token by default."""
    default: Pace = "token"
    return fields.choice("pace", PACES, default)


def read_after(fields: Fields) -> int:
    """The last delta that the reader has."""
    return fields.integer("after", 0, _MAX_SEQ, 0)


def read_link(fields: Fields) -> Link | None:
    """A simulated network; see reply.link for what the fields mean."""
    if not fields.has("link"):
        return None
    asked = Fields(fields.raw("link"), fields.path("link"))
    found: dict[str, Any] = {field.name: _number(asked, field) for field in _LINK_FIELDS}
    asked.refuse_others()
    return Link(**found)


def read_id(fields: Fields) -> str | None:
    """The client's own name for the reply."""
    id = fields.text("id", None, MAX_ID_CHARS)
    if id == "":
        raise fields.wrong("id", "must not be empty")
    return id


# Private


def _number(asked: Fields, field: inspect.Field) -> float | None:
    """A field of a link, within the limits that the link itself declares."""
    kinds = field.type.types if isinstance(field.type, inspect.UnionType) else (field.type,)
    for kind in kinds:
        if isinstance(kind, inspect.IntType):
            return asked.integer(field.name, cast(int, kind.ge), cast(int, kind.le), field.default)
        if isinstance(kind, inspect.FloatType):
            return asked.number(field.name, cast(float, kind.ge), cast(float, kind.le), field.default)
    raise AssertionError(f"{field.name} is no number")
