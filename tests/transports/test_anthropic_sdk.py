"""The official anthropic SDK, helpers included, against a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic
from anthropic.types import MessageParam

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.server import Running, run_server_in_thread

TEXT = "Grüße! नमस्ते 👩‍👩‍👧‍👦 and a line\nof code\u2028END of it"
ASK: list[MessageParam] = [{"role": "user", "content": "Say it, please"}]
Serve = Callable[..., Running]


def engine(text: str = TEXT, **options: Any) -> ScriptedEngine:
    return ScriptedEngine(spoken(text, 0.0), **options)


@pytest.fixture
def connect(server: Serve) -> Iterator[Callable[..., Anthropic]]:
    """``connect(engine, **settings)`` gives a client of a running server."""
    clients: list[Anthropic] = []

    def start(served: ScriptedEngine, *, key: str = "any", **settings: Any) -> Anthropic:
        running = server(served, **settings)
        clients.append(Anthropic(base_url=running.url, api_key=key, max_retries=0, timeout=30))
        return clients[-1]

    yield start
    for client in clients:
        client.close()


@pytest.fixture(scope="module")
def client() -> Iterator[Anthropic]:
    """A client of one server that all tests with nothing special to it share: setting up takes long."""
    with (
        run_server_in_thread(engine()) as running,
        Anthropic(base_url=running.url, api_key="any", max_retries=0, timeout=30) as shared,
    ):
        yield shared


def test_a_whole_message_has_its_text_and_usage(client: Anthropic) -> None:
    message = client.messages.create(model="scripted", max_tokens=100, messages=ASK)
    assert [block.type for block in message.content] == ["text"]
    assert message.to_dict()["content"] == [{"type": "text", "text": TEXT}]
    assert (message.type, message.role, message.model) == ("message", "assistant", "scripted")
    assert message.stop_reason == "end_turn" and message.stop_sequence is None
    assert (message.usage.input_tokens, message.usage.output_tokens) == (3, len(spoken(TEXT, 0.0)))
    assert message.id.startswith("msg_") and message._request_id


def test_a_streamed_message_comes_in_the_documented_order(client: Anthropic) -> None:
    events = list(client.messages.create(model="default", max_tokens=100, messages=ASK, stream=True))
    kinds = [event.type for event in events]
    assert kinds[:2] == ["message_start", "content_block_start"]
    assert kinds[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert set(kinds[2:-3]) == {"content_block_delta"} and len(kinds) > 10


def test_the_stream_helper_puts_the_message_together(client: Anthropic) -> None:
    with client.messages.stream(model="default", max_tokens=100, messages=ASK) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
        assert stream.get_final_text() == text == TEXT
        assert stream.request_id
    assert final.stop_reason == "end_turn"
    assert (final.usage.input_tokens, final.usage.output_tokens) == (3, len(spoken(TEXT, 0.0)))


def test_why_it_ended_is_told_in_anthropics_words(client: Anthropic) -> None:
    for stopped in (
        client.messages.create(model="default", max_tokens=100, messages=ASK, stop_sequences=["no", "END"]),
        _streamed(client, max_tokens=100, stop_sequences=["no", "END"]),
    ):
        assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "END")
        assert stopped.to_dict()["content"] == [{"type": "text", "text": TEXT.split("END")[0]}]
    cut = _streamed(client, max_tokens=2)
    assert cut.stop_reason == "max_tokens" and cut.usage.output_tokens == 2


def test_an_empty_answer_is_an_empty_block(client: Anthropic) -> None:
    for empty in (
        client.messages.create(model="default", max_tokens=100, messages=ASK, stop_sequences=["G"]),
        _streamed(client, max_tokens=100, stop_sequences=["G"]),
    ):
        assert empty.to_dict()["content"] == [{"type": "text", "text": ""}]


def test_system_texts_and_a_begun_answer_are_understood(client: Anthropic) -> None:
    asked: dict[str, Any] = {
        "model": "default",
        "system": [{"type": "text", "text": "Be", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Say it"}]},
            {"role": "assistant", "content": "Well"},
        ],
    }
    message = client.messages.create(
        **asked,
        max_tokens=100,
        metadata={"user_id": "somebody"},
        thinking={"type": "disabled"},
        tools=[],
        extra_body={"temperature": 1.0, "top_p": 0.9, "top_k": 5},
    )
    assert message.usage.input_tokens == 4
    assert client.messages.count_tokens(**asked).input_tokens == 4


def test_tokens_are_counted_without_generating(connect: Callable[..., Anthropic]) -> None:
    served = engine()
    counted = connect(served).messages.count_tokens(model="default", system="Be brief", messages=ASK)
    assert counted.input_tokens == 5 and not served.made


IMAGE = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"max_tokens": None}, "max_tokens is missing"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 100_000}, "max_tokens"),
        ({"temperature": 1.5}, "temperature"),
        ({"top_p": -1}, "top_p"),
        ({"stop_sequences": [""]}, "stop_sequences"),
        ({"stream": "yes"}, "stream"),
        ({"tools": [{"name": "f", "input_schema": {}}]}, "tools"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking"),
        ({"output_config": {"format": {"type": "json_schema"}}}, "output_config.format"),
        ({"system": [IMAGE]}, "system[0].type"),
        ({"messages": [{"role": "system", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "messages[0].content[0].type"),
        ({"messages": [{"role": "user", "content": [DOCUMENT]}]}, "messages[0].content[0].type"),
    ],
)
def test_what_cannot_be_done_is_refused_by_its_name(
    client: Anthropic, fields: dict[str, Any], named: str
) -> None:
    body = {"model": "default", "max_tokens": 10, "messages": ASK, **fields}
    with pytest.raises(anthropic.BadRequestError, match=named.replace("[", r"\[")) as raised:
        # post(): what the typed methods would not let through has to be refused by the server.
        client.post("/v1/messages", cast_to=object, body=body)
    assert _kind(raised.value) == "invalid_request_error" and raised.value.request_id


def test_errors_before_the_first_byte_are_the_sdks_own_classes(connect: Callable[..., Anthropic]) -> None:
    client = connect(engine(context_tokens=16))
    with pytest.raises(anthropic.NotFoundError) as missing:
        client.messages.create(model="claude-of-tomorrow", max_tokens=10, messages=ASK)
    assert _kind(missing.value) == "not_found_error"
    long: list[MessageParam] = [{"role": "user", "content": "word " * 50}]
    with (
        pytest.raises(anthropic.BadRequestError, match="50"),
        client.messages.stream(model="default", max_tokens=10, messages=long),
    ):
        pass


def test_a_wrong_key_is_an_authentication_error_and_both_headers_carry_the_right_one(
    server: Serve,
) -> None:
    running = server(engine(), api_key="right")
    keys: list[dict[str, str]] = [{"api_key": "right"}, {"auth_token": "right"}]
    for key in keys:
        with Anthropic(base_url=running.url, max_retries=0, **key) as client:  # type: ignore[arg-type]
            assert client.messages.count_tokens(model="default", messages=ASK).input_tokens == 3
    with (
        Anthropic(base_url=running.url, api_key="wrong", max_retries=0) as client,
        pytest.raises(anthropic.AuthenticationError) as raised,
    ):
        client.messages.create(model="default", max_tokens=10, messages=ASK)
    assert _kind(raised.value) == "authentication_error" and raised.value.request_id


def test_a_lost_engine_is_a_status_that_says_when_to_come_back(server: Serve) -> None:
    running = server(engine())
    running.engine.lose()
    with (
        Anthropic(base_url=running.url, api_key="any", max_retries=0) as client,
        pytest.raises(anthropic.APIStatusError) as lost,
    ):
        client.messages.create(model="default", max_tokens=10, messages=ASK)
    assert lost.value.status_code == 503 and lost.value.response.headers["retry-after"] == "5"


def test_a_full_line_is_overloaded_in_anthropics_own_status(server: Serve) -> None:
    running = server(engine(slots=1, manual=True), max_waiting=1, vendor_ping_s=0.1)
    with (
        Anthropic(base_url=running.url, api_key="any", max_retries=0) as client,
        client.messages.create(model="default", max_tokens=10, messages=ASK, stream=True) as first,
        client.messages.create(model="default", max_tokens=10, messages=ASK, stream=True),
        pytest.raises(anthropic.APIStatusError) as full,
    ):
        assert next(iter(first)).type == "message_start"
        client.messages.create(model="default", max_tokens=10, messages=ASK)
    assert full.value.status_code == 529 and _kind(full.value) == "overloaded_error"
    assert full.value.response.headers["retry-after"] == "2"


def test_a_failure_in_mid_stream_raises_after_the_text_so_far_and_never_stops(
    connect: Callable[..., Anthropic],
) -> None:
    client = connect(engine("one two three", fail_at=2))
    heard, kinds = "", []
    with (
        pytest.raises(anthropic.APIStatusError) as raised,
        client.messages.stream(model="default", max_tokens=10, messages=ASK) as stream,
    ):
        for event in stream:
            kinds.append(event.type)
            heard += event.text if event.type == "text" else ""
    assert heard == "one two" and "message_stop" not in kinds and "message_delta" not in kinds
    assert _kind(raised.value) == "api_error"
    with pytest.raises(anthropic.InternalServerError) as whole:
        client.messages.create(model="default", max_tokens=10, messages=ASK)
    assert whole.value.response.headers["x-should-retry"] == "false"


def _streamed(client: Anthropic, **fields: Any) -> Any:
    with client.messages.stream(model="default", messages=ASK, **fields) as stream:
        return stream.get_final_message()


def _kind(error: anthropic.APIStatusError) -> str:
    body: Any = error.body
    kind: str = body["error"]["type"]
    return kind
