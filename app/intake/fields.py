"""Fields: one JSON object, read field by field, with errors that name the field and its limits.

Every dialect reads its requests through this, so that every wire refuses the same things in the
same words: wrong types, numbers that are none (NaN, true), lone surrogates, too many, too long.
``null`` is the same as absent. It refuses to know what any field means. Pure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from app.errors import BadRequest, unreadable

D = TypeVar("D")
S = TypeVar("S", bound=str)

#: Most characters of somebody else's text that an error message repeats.
_SHOWN_CHARS = 60
#: Longest object that a query may spell.
_MAX_NESTED_CHARS = 1000


def parse_json(data: bytes | str) -> Any:
    """The JSON value in ``data`` (UTF-8). Raises BadRequest; NaN and the like pass, fields refuse them."""
    try:
        return json.loads(data.decode() if isinstance(data, bytes) else data)
    except UnicodeDecodeError:
        raise BadRequest("the request is not UTF-8") from None
    except RecursionError:
        raise BadRequest("the request is not usable JSON: it is nested too deeply") from None
    except ValueError as error:
        raise unreadable("the request is not JSON", error) from None


class Fields:
    """One object of a request. ``where`` is its place in it, like ``messages[2]``.

    All readers raise BadRequest. Those with a ``default`` give it when the field is absent.
    """

    def __init__(self, value: object, where: str = "") -> None:
        if not isinstance(value, dict):
            what = where or "the request"
            raise BadRequest(f"{what} must be a JSON object, not {_kind(value)}", param=where or None)
        self._value: dict[str, Any] = value
        self._where = where
        self._read: set[str] = set()

    def path(self, name: str) -> str:
        """The field's full name, as errors give it."""
        return f"{self._where}.{name}" if self._where else name

    def wrong(self, name: str, why: str) -> BadRequest:
        """An error about a field, to be raised: ``why`` goes on from its name."""
        return BadRequest(f"{self.path(name)} {why}", param=self.path(name))

    def raw(self, name: str) -> Any:
        """The field as it is; None when it is absent."""
        self._read.add(name)
        return self._value.get(name)

    def has(self, name: str) -> bool:
        """Whether the field is there and not null."""
        return self.raw(name) is not None

    def require(self, *names: str) -> None:
        """All of these have to be there."""
        for name in names:
            if not self.has(name):
                raise self.wrong(name, "is missing")

    def string(self, name: str, most_chars: int | None = None) -> str:
        """A required string."""
        self.require(name)
        text = self._text(name, self.raw(name), most_chars)
        return text

    def text(self, name: str, default: D, most_chars: int | None = None) -> str | D:
        """A string or the default."""
        value = self.raw(name)
        return default if value is None else self._text(name, value, most_chars)

    def number(self, name: str, low: float, high: float, default: D) -> float | D:
        """A finite number in [low, high]."""
        value = self.raw(name)
        if value is None:
            return default
        # In Python True is 1; in JSON it is no number.
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.wrong(name, f"must be a number from {low:g} to {high:g}, not {_kind(value)}")
        if isinstance(value, float) and not math.isfinite(value) or not low <= value <= high:
            raise self.wrong(name, f"must be a number from {low:g} to {high:g}, not {_shown(value)}")
        return float(value)

    def integer(self, name: str, low: int, high: int, default: D) -> int | D:
        """A whole number in [low, high]."""
        value = self.raw(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(name, f"must be a whole number from {low} to {high}, not {_shown(value)}")
        return value

    def boolean(self, name: str, default: D) -> bool | D:
        """True or false."""
        value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(name, f"must be true or false, not {_shown(value)}")
        return value

    def choice(self, name: str, choices: tuple[S, ...], default: D) -> S | D:
        """One of ``choices``."""
        value = self.raw(name)
        if value is None:
            return default
        for choice in choices:
            if value == choice:
                return choice
        raise self.wrong(name, f"must be one of {', '.join(choices)}, not {_shown(value)}")

    def strings(self, name: str, most: int, most_chars: int) -> tuple[str, ...]:
        """A string or a list of up to ``most`` of them, none of them empty; absent: none."""
        value = self.raw(name)
        if value is None:
            return ()
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list):
            raise self.wrong(name, f"must be a string or a list of strings, not {_kind(value)}")
        if len(values) > most:
            raise self.wrong(name, f"has {len(values)} strings; the limit is {most}")
        texts = tuple(self._text(name, text, most_chars) for text in values)
        if "" in texts:
            raise self.wrong(name, "must not have an empty string")
        return texts

    def objects(self, name: str, most: int) -> list[Fields]:
        """A required list of 1 to ``most`` objects."""
        self.require(name)
        value = self.raw(name)
        if not isinstance(value, list):
            raise self.wrong(name, f"must be a list of objects, not {_kind(value)}")
        if not 1 <= len(value) <= most:
            raise self.wrong(name, f"must have 1 to {most} entries, not {len(value)}")
        return [Fields(entry, f"{self.path(name)}[{place}]") for place, entry in enumerate(value)]

    def refuse_others(self) -> None:
        """Refuse the first field that nobody has read: a misspelt one must not be ignored."""
        for name in self._value:
            if name not in self._read:
                known, shown = ", ".join(sorted(self._read)), _shown(self.path(name))
                raise BadRequest(f"{shown} is not a field here; known are {known}", param=shown.strip("'\""))

    # Private

    def _text(self, name: str, value: object, most_chars: int | None) -> str:
        if not isinstance(value, str):
            raise self.wrong(name, f"must be a string, not {_kind(value)}")
        if most_chars is not None and len(value) > most_chars:
            raise self.wrong(name, f"has {len(value)} characters; the limit is {most_chars}")
        # JSON can escape half a character; no encoding of it exists.
        if not _encodable(value):
            raise self.wrong(name, "has a lone surrogate, which is no character")
        return value


def from_query(pairs: list[tuple[str, str]], kinds: Mapping[str, Callable[[str], Any]]) -> Fields:
    """Fields of a query string; ``kinds`` says how values that are no strings are read (see ``typed``)."""
    value: dict[str, Any] = {}
    for name, text in pairs:
        if name in value:
            raise BadRequest(f"{_shown(name)} is given twice", param=_shown(name).strip("'\""))
        value[name] = kinds.get(name, str)(text)
    return Fields(value)


def typed(text: str) -> Any:
    """A query's ``5``, ``0.5`` or ``true`` as JSON would say it; anything else stays a string."""
    try:
        value = json.loads(text[:_SHOWN_CHARS])
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, str | list | dict) else value


def nested(text: str) -> Any:
    """A query's ``{"latency_ms":80}`` as the object that it spells; anything else stays a string."""
    try:
        value = json.loads(text) if len(text) <= _MAX_NESTED_CHARS else None
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text


# Private


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
    return "an object"


def _shown(value: object) -> str:
    """A short form for a message, in plain ASCII whatever it was."""
    if isinstance(value, list | dict):
        return _kind(value)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 64:
        return "such a long one"
    text = json.dumps(value) if not isinstance(value, str) else ascii(value)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"
