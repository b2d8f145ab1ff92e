"""F20: malformed frames and malformed JSON: the right close code or one error, and no exception.

Autobahn's suite needs Python 2; in its place the same bytes go to the websockets library's own
protocol core, and our server has to close with the same code.
"""

from __future__ import annotations

import contextlib
import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from websockets.sync.client import connect

from app.engine.scripted import ScriptedEngine
from tests.faults.complaints import complaints
from tests.faults.frames import attacks, close_code, due, frame, opened
from tests.server import run_server_in_thread

_CODES = {1000, 1001, 1002, 1003, 1005, 1007, 1008, 1009}
#: A busy machine is no reason to fail.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

_anything = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20),
        st.sampled_from([10**400, -(10**30), 1e308, "\ud800", "\0", "start", "user"]),
    ),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
_fields = st.dictionaries(
    st.sampled_from(
        ["id", "messages", "pace", "max_tokens", "temperature", "seed", "stop", "link", "acks", "reply",
         "after", "seq", "t", "await_readers", "slow_policy", "logit_bias", "recording", "unheard_of"]
    ),
    _anything,
    max_size=6,
)  # fmt: skip
_actions = st.builds(
    lambda kind, fields: {"type": kind, **fields},
    st.sampled_from(["start", "attach", "stop", "ack", "ping", "hello", "vote", "", None, 7, ["start"]]),
    _fields,
)
_texts = st.one_of(
    _actions.map(json.dumps),
    _anything.map(json.dumps),
    st.text(max_size=60),
    st.sampled_from(
        ["[" * 10_000, '{"a":' * 10_000, "1" * 5000, '{"type":"start"' + " " * 5000,
         '{"type":"ack","reply":"a","seq":1e999}', '{"type":"ping","t":NaN}', "\ufeff{}",
         '{"type":"\\ud800"}']
    ),
)  # fmt: skip


def test_whatever_bytes_come_the_socket_closes_with_the_code_that_is_due():
    with complaints() as written, run_server_in_thread(ws_messages_per_minute=1_000_000) as s:

        @settings(_patient, max_examples=100)
        @given(attacks())
        def attack(data: bytes) -> None:
            codes = due(data)
            goodbye = b"" if codes else frame(8, b"\x03\xe8")
            codes = codes or due(data + goodbye)
            answer = b""
            with contextlib.closing(opened(s.port)) as sock, contextlib.suppress(ConnectionError):
                sock.sendall(data + goodbye)
                while codes and (chunk := sock.recv(65536)):
                    answer += chunk
            # Where even our goodbye is the middle of a frame only the deadline helps, tested elsewhere.
            # Whoever sends on after a fatal frame may lose the answer to a reset, but gets no other.
            assert codes <= _CODES and (not codes or close_code(answer) in codes | {None})
            if len(data) < 200 and codes:
                assert close_code(answer) in codes

        attack()
        with connect(s.ws) as ws:
            ws.send('{"type":"ping"}')
            assert json.loads(ws.recv(timeout=10))["type"] == "pong"
    assert written == []


def test_whatever_json_comes_it_gets_one_answer_and_the_socket_stays():
    engine = ScriptedEngine([(b"word", 0.0)])
    with complaints() as written, run_server_in_thread(engine, ws_messages_per_minute=1_000_000) as s:
        turn = 0
        with connect(s.ws, max_size=None) as ws:

            @settings(_patient, max_examples=200)
            @given(_texts)
            def send(text: str) -> None:
                nonlocal turn
                turn += 1
                ws.send(text.encode(errors="replace").decode())
                ws.send(json.dumps({"type": "ping", "t": turn}))
                heard = [json.loads(ws.recv(timeout=10))]
                while (heard[-1]["type"], heard[-1].get("echo")) != ("pong", turn):
                    heard.append(json.loads(ws.recv(timeout=10)))
                errors = [event for event in heard if event["type"] == "error"]
                assert len(errors) <= 1
                for error in errors:
                    # One line of plain signs, whatever it repeats of what was sent.
                    assert error["message"].isprintable() and len(error["message"]) < 500

            send()
    assert written == []
