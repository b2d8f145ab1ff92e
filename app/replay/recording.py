"""The recording: one reply with its times, prompt, model and machine, as a JSON file of version 1.

Reading is strict, because files come from anybody: sizes are limited, types checked, and the text has
to be the one that its events and its hash say. Fields that nobody knows are let be: a later program
may add some. It refuses to know how a recording is made and who plays it.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from app.errors import BadRequest
from app.events import Delta, Done, Paused, Queued, Resumed, Started
from app.prompt import Message
from app.replay.recorded_lanes import MAX_LANES, MAX_T_MS, Count, Lane, Line, check_lane

FORMAT = "firstword-recording"
VERSION = 1
#: About 15 000 tokens with everything that is kept of each; ours have a few hundred.
MAX_BYTES = 4 * 1024 * 1024
#: What a reader of JSON can follow in any language; ours are six levels deep.
MAX_DEPTH = 100

Id = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Utc = Annotated[str, msgspec.Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)$")]
Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
Kind = TypeVar("Kind")
Event = Queued | Started | Delta | Paused | Resumed | Done


class Asked(msgspec.Struct, frozen=True):
    """The prompt; ``settings`` are the request's: max_tokens, temperature, seed, …"""

    messages: Annotated[list[Message], msgspec.Meta(min_length=1, max_length=1000)]
    settings: dict[str, Any] = {}


class Model(msgspec.Struct, frozen=True):
    name: Line
    device: Line = ""
    dtype: Line = ""


class Hardware(msgspec.Struct, frozen=True):
    """What it ran on: no host name, no user, nothing to find a machine by. Empty or 0: not known."""

    cpu: Line
    cores: Count
    memory_gb: Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
    system: Line


class Said(msgspec.Struct, frozen=True):
    """The reply: its wire events at pace token, ``t`` in ms since the server received the request."""

    id: Annotated[str, msgspec.Meta(max_length=128)]
    text: str
    #: SHA-256 of the text's UTF-8, in hexadecimal.
    sha256: Sha256
    events: Annotated[list[Event], msgspec.Meta(min_length=1, max_length=50_000)]

    @property
    def deltas(self) -> list[Delta]:
        return [event for event in self.events if isinstance(event, Delta)]

    @property
    def done(self) -> Done:
        done = self.events[-1]
        assert isinstance(done, Done), "reading has checked it"
        return done


class Recording(msgspec.Struct, frozen=True):
    format: str
    version: int
    id: Id
    title: Line
    made_at: Utc
    #: "firstword X.Y.Z"
    made_by: Line
    prompt: Asked
    model: Model
    hardware: Hardware
    reply: Said
    lanes: Annotated[list[Lane], msgspec.Meta(max_length=MAX_LANES)] = []


def read_recording(data: bytes) -> Recording:
    """The recording in ``data``. Raises BadRequest: one sentence that names the field."""
    if len(data) > MAX_BYTES:
        raise BadRequest(f"the recording has {len(data)} bytes; the limit is {MAX_BYTES}")
    # Some editors put a byte order mark at the beginning of what they save.
    data = data.removeprefix(codecs.BOM_UTF8)
    if _depth(data) > MAX_DEPTH:
        raise BadRequest(f"the recording must be at most {MAX_DEPTH} levels deep")
    head = _decode(data, _Head)
    if head.format != FORMAT:
        raise BadRequest(f'format is not "{FORMAT}": this is no recording of Firstword', param="format")
    if head.version != VERSION:
        raise BadRequest(
            f"version is {head.version}; this Firstword reads version {VERSION} only", param="version"
        )
    recording = _decode(data, Recording)
    _check(recording.reply)
    if len(recording.lanes) == 1:
        raise BadRequest("lanes must be none, or at least two: a race has no less", param="lanes")
    for place, lane in enumerate(recording.lanes):
        check_lane(lane, recording.reply.id, recording.reply.text, f"lanes[{place}]")
    return recording


def load_recording(path: Path) -> Recording:
    """The recording in a file. Raises BadRequest, OSError."""
    with path.open("rb") as file:
        # One byte more than allowed is enough to know, however large it is.
        return read_recording(file.read(MAX_BYTES + 1))


def recording_bytes(recording: Recording) -> bytes:
    """The file: one field a line, one event a line, so that people can read it."""
    encode = msgspec.json.encode
    lines = []
    for name in recording.__struct_fields__:
        value = getattr(recording, name)
        if name == "lanes" and not value:
            continue
        text = encode(value)
        if isinstance(value, Said):
            events = b",\n  ".join(encode(event) for event in value.events)
            head = encode({"id": value.id, "text": value.text, "sha256": value.sha256})
            text = head[:-1] + b', "events": [\n  ' + events + b"\n]}"
        lines.append(encode(name) + b": " + text)
    return b"{" + b",\n".join(lines) + b"}\n"


def sha256_of(text: str) -> str:
    """The hash that ``reply.sha256`` holds."""
    return hashlib.sha256(text.encode()).hexdigest()


# Private


class _Head(msgspec.Struct):
    format: Any = None
    version: Any = None


_BRACKETS = re.compile(rb'"(?:[^"\\]|\\.)*"|([\[{])|([\]}])', re.DOTALL)


def _depth(data: bytes) -> int:
    """How deep lists and objects lie in each other, also in fields that nobody reads."""
    depth = deepest = 0
    for bracket in _BRACKETS.finditer(data):
        depth += (bracket[1] is not None) - (bracket[2] is not None)
        deepest = max(deepest, depth)
    return deepest


def _decode(data: bytes, kind: type[Kind]) -> Kind:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError as error:
        raise _named(str(error)) from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadRequest(f"the recording is not JSON: {error}") from None


def _named(message: str) -> BadRequest:
    """msgspec's "Expected `int`, got `str` - at `$.reply.id`" with the field first."""
    what, _, place = message.partition(" - at ")
    field = place.strip("`").removeprefix("$").removeprefix(".")
    if missing := re.search(r"missing required field `(\w+)`", what):
        field = f"{field}.{missing[1]}".strip(".")
        return BadRequest(f"{field} is missing", param=field)
    what = what.replace("`", "").removeprefix("Expected ")
    return BadRequest(f"{field or 'the recording'} must be {what}", param=field or None)


def _check(reply: Said) -> None:
    """What types cannot say: the end, the order, the text."""
    _check_order(reply.events)
    text = "".join(delta.text for delta in reply.deltas)
    try:
        actual = sha256_of(text)
    except UnicodeEncodeError:
        raise BadRequest(
            "reply.text has a lone surrogate, which is no character", param="reply.text"
        ) from None
    if text != reply.text:
        raise BadRequest("reply.text is not the text that reply.events bring", param="reply.text")
    if reply.sha256 != actual:
        raise BadRequest("reply.sha256 is not the hash of reply.text", param="reply.sha256")


def _check_order(events: list[Event]) -> None:
    before_ms, seq = 0.0, 0
    for place, event in enumerate(events):
        where = f"reply.events[{place}]"
        if isinstance(event, Done) != (place == len(events) - 1):
            raise BadRequest(f"{where} must be the one done and the last event", param=where)
        # Who came back to a reply was told its beginning again: only text and end have to be in order.
        earliest_ms = before_ms if isinstance(event, Delta | Done) else 0.0
        if not earliest_ms <= event.t <= MAX_T_MS:
            raise BadRequest(
                f"{where}.t must be {earliest_ms:g} to {MAX_T_MS:g}, not {event.t:g}", param=where
            )
        if isinstance(event, Delta):
            if event.seq <= seq or event.tokens < 0:
                raise BadRequest(f"{where}.seq must be above {seq}, and tokens at least 0", param=where)
            before_ms, seq = event.t, event.seq
