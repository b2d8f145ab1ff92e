"""Each parser of what strangers send: whatever it is given, it gives a value or its own refusal.

Those with a fuzzing test beside their other tests are not repeated: fields, prompts and vendors'
requests (tests/intake), the engine's pipe, SSE, recordings, and the socket's frames (test_fuzz).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.client.http_answer import BrokenAnswer, HttpAnswer, Request
from app.engine.script import load_script
from app.errors import BadRequest, StartupError
from app.rooms.commands import HostCommand, ParticipantCommand, read_command
from app.transports.rooms_messages import read_hello, read_ping, type_of
from app.upstream.chunk import Unreadable, read_chunk

_leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.just("a" * 3000)
)
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
#: Names that these parsers know, so that values get behind the first look.
_NAMES = (
    "type", "role", "id", "token", "t", "round", "ballot", "choice", "plan", "prompt", "lanes", "to",
    "since", "number", "first_paint_ms", "choices", "delta", "content", "usage", "error", "index", "logprobs",
    "hex", "seed", "max_tokens",
)  # fmt: skip
_TYPES = ("hello", "ping", "vote", "open_round", "advance", "seen", "felt", "kick", "ask", "stop", 7)
_known = st.dictionaries(st.sampled_from(_NAMES), _json, max_size=5)
_texts = st.one_of(
    st.text(max_size=60),
    _json.map(json.dumps),
    st.builds(lambda kind, rest: json.dumps(rest | {"type": kind}), st.sampled_from(_TYPES), _known),
    _known.map(lambda entry: json.dumps({"choices": [entry]})),
    st.lists(st.tuples(_json, _json), max_size=3).map(json.dumps),
    st.sampled_from(
        ["[" * 20_000, '{"a\\nb":1}', '{"a":' * 20_000, "1" * 6000, '{"type":"ping","t":1e999}', "\ud800"]
    ),
)

TEXT_PARSERS: list[tuple[Callable[[str], Any], type[Exception]]] = [
    (read_command, BadRequest),
    (read_hello, BadRequest),
    (read_ping, BadRequest),
    (type_of, BadRequest),
    (read_chunk, Unreadable),
]
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@pytest.mark.parametrize(("parse", "refusal"), TEXT_PARSERS, ids=lambda p: p.__name__)
def test_any_text_is_read_or_refused(parse: Callable[[str], Any], refusal: type[Exception]) -> None:
    @_patient
    @given(_texts)
    def try_it(text: str) -> None:
        try:
            parse(text)
        except refusal as error:
            # One line, and not the whole of what was sent.
            assert len(str(error)) < 500 and "\n" not in str(error)

    try_it()


def test_what_is_read_as_a_command_is_one_of_the_vocabulary() -> None:
    command = read_command('{"type":"vote","round":1,"ballot":"vote","choice":"same"}')
    assert isinstance(command, HostCommand | ParticipantCommand)


def test_any_script_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "script.json"

    @_patient
    @given(st.one_of(st.binary(max_size=60), _texts.map(lambda text: text.encode(errors="replace"))))
    def try_it(data: bytes) -> None:
        path.write_bytes(data)
        try:
            assert load_script(path)
        except StartupError as error:
            assert "\n" not in str(error)

    try_it()


_heads = st.sampled_from(
    [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 999 \xff\r\n", b"HTTP/9 200\r\n", b"Content-Length: 5\r\n",
     b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n", b"\r\n",
     b"5\r\nhello\r\n", b"ffffffffffff\r\n", b"0\r\n\r\n", b"\x1f\x8b\x08", b"X" * 70_000]
)  # fmt: skip


def test_any_answer_of_a_server_is_read_or_called_broken() -> None:
    @_patient
    @given(st.lists(st.one_of(_heads, st.binary(min_size=1, max_size=20)), max_size=8))
    def try_it(reads: list[bytes]) -> None:
        answer = HttpAnswer(Request("POST", "/", {"Accept": "*/*"}, b"{}"), "localhost")
        try:
            # An empty read is the connection's end, and comes last.
            for data in [*reads, b""]:
                answer.feed(1, data)
        except BrokenAnswer as error:
            assert str(error)

    try_it()
