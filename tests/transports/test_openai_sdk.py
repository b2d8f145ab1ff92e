"""The official openai SDK, helpers included, against a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.server import Running, run_server_in_thread

TEXT = "Grüße! नमस्ते 👩‍👩‍👧‍👦 and a line\nof code\u2028END of it"
ASK: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Say it, please"}]
Serve = Callable[..., Running]


def engine(text: str = TEXT, **options: Any) -> ScriptedEngine:
    return ScriptedEngine(spoken(text, 0.0), **options)


@pytest.fixture
def connect(server: Serve) -> Iterator[Callable[..., OpenAI]]:
    """``connect(engine, **settings)`` gives a client of a running server."""
    clients: list[OpenAI] = []

    def start(served: ScriptedEngine | None = None, *, key: str = "any", **settings: Any) -> OpenAI:
        running = server(served or engine(), **settings)
        clients.append(OpenAI(base_url=f"{running.url}/v1", api_key=key, max_retries=0, timeout=30))
        return clients[-1]

    yield start
    for client in clients:
        client.close()


@pytest.fixture(scope="module")
def client() -> Iterator[OpenAI]:
    """A client of one server that all tests with nothing special to it share: setting up takes long."""
    with (
        run_server_in_thread(engine()) as running,
        OpenAI(base_url=f"{running.url}/v1", api_key="any", max_retries=0, timeout=30) as shared,
    ):
        yield shared


def test_a_streamed_chat_gives_the_whole_text_one_role_and_one_finish_reason(client: OpenAI) -> None:
    chunks = list(client.chat.completions.create(model="default", messages=ASK, stream=True))
    choices = [chunk.choices[0] for chunk in chunks]
    assert "".join(choice.delta.content or "" for choice in choices) == TEXT
    assert [choice.delta.role for choice in choices if choice.delta.role] == ["assistant"]
    assert [choice.finish_reason for choice in choices] == [None] * (len(choices) - 1) + ["stop"]
    assert all(choice.delta.content for choice in choices[1:-1])
    assert len({(c.id, c.created, c.model, c.object) for c in chunks}) == 1
    assert all("usage" not in chunk.model_fields_set for chunk in chunks)


def test_a_whole_chat_has_the_same_text_and_its_usage(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="scripted", messages=ASK)
    (choice,) = answer.choices
    assert choice.message.content == TEXT and choice.message.role == "assistant"
    assert choice.finish_reason == "stop" and choice.logprobs is None
    assert answer.id.startswith("chatcmpl-") and answer.object == "chat.completion"
    assert answer.model == "scripted"
    assert answer.usage is not None
    assert answer.usage.prompt_tokens == 3
    assert answer.usage.completion_tokens == len(spoken(TEXT, 0.0))
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


@pytest.mark.parametrize("n", [1, 3])
def test_the_stream_helper_puts_every_choice_together(connect: Callable[..., OpenAI], n: int) -> None:
    client = connect(engine(slots=2))
    with client.chat.completions.stream(
        model="default", messages=ASK, n=n, stream_options={"include_usage": True}
    ) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_completion()
    assert kinds.count("content.done") == n and "content.delta" in kinds
    assert [choice.message.content for choice in final.choices] == [TEXT] * n
    assert [choice.index for choice in final.choices] == list(range(n))
    assert [choice.message.role for choice in final.choices] == ["assistant"] * n
    assert [choice.finish_reason for choice in final.choices] == ["stop"] * n
    assert final.usage is not None
    assert (final.usage.prompt_tokens, final.usage.completion_tokens) == (3, n * len(spoken(TEXT, 0.0)))


def test_include_usage_sends_usage_once_and_last(client: OpenAI) -> None:
    *chunks, last = client.chat.completions.create(
        model="default", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    assert all(chunk.usage is None and "usage" in chunk.model_fields_set for chunk in chunks)
    assert last.choices == [] and last.usage is not None and last.usage.completion_tokens > 0


@pytest.mark.parametrize("stop", ["END", ["never", "END"]])
def test_a_stop_string_ends_the_text_and_is_no_part_of_it(client: OpenAI, stop: Any) -> None:
    whole = client.chat.completions.create(model="default", messages=ASK, stop=stop)
    assert whole.choices[0].message.content == TEXT.split("END")[0]
    assert whole.choices[0].finish_reason == "stop"
    parts = client.chat.completions.create(model="default", messages=ASK, stop=stop, stream=True)
    assert "".join(p.choices[0].delta.content or "" for p in parts) == TEXT.split("END")[0]


def test_both_names_of_the_token_limit_end_by_length(connect: Callable[..., OpenAI]) -> None:
    client = connect(engine("one two three four five"))
    old = client.chat.completions.create(model="default", messages=ASK, max_tokens=2)
    new = client.chat.completions.create(model="default", messages=ASK, max_tokens=9, max_completion_tokens=2)
    for answer in (old, new):
        assert answer.choices[0].finish_reason == "length"
        assert answer.choices[0].message.content == "one two"


@pytest.mark.parametrize("stream", [False, True])
def test_chat_logprobs_bring_every_token_with_its_bytes(client: OpenAI, stream: bool) -> None:
    asked: dict[str, Any] = {"model": "default", "messages": ASK, "logprobs": True, "top_logprobs": 1}
    answer: Any = client.chat.completions.create(**asked, stream=stream)
    choices = [chunk.choices[0] for chunk in answer] if stream else [answer.choices[0]]
    tokens = [token for choice in choices if choice.logprobs for token in choice.logprobs.content]
    assert b"".join(bytes(token.bytes) for token in tokens) == TEXT.encode()
    assert [bytes(token.bytes) for token in tokens] == [data for data, _ in spoken(TEXT, 0.0)]
    assert all(token.logprob == 0.0 and len(token.top_logprobs) == 1 for token in tokens)


@pytest.mark.parametrize("stream", [False, True])
def test_completions_take_a_text_and_give_columns_of_logprobs(
    connect: Callable[..., OpenAI], stream: bool
) -> None:
    answer: Any = connect(engine("one two three")).completions.create(
        model="default", prompt="Go on", max_tokens=5, logprobs=1, stream=stream
    )
    choices = [chunk.choices[0] for chunk in answer] if stream else [answer.choices[0]]
    assert "".join(choice.text for choice in choices) == "one two three"
    assert choices[-1].finish_reason == "stop"
    columns = [choice.logprobs for choice in choices if choice.logprobs]
    assert [token for c in columns for token in c.tokens] == ["one", " two", " three"]
    assert [offset for c in columns for offset in c.text_offset] == [0, 3, 7]
    assert [top for c in columns for top in c.top_logprobs] == [{"one": 0.0}, {" two": 0.0}, {" three": 0.0}]


def test_completions_have_openais_default_of_sixteen_tokens(connect: Callable[..., OpenAI]) -> None:
    client = connect(engine("word " * 40))
    answer = client.completions.create(model="default", prompt=["Go on"], n=2)
    assert [choice.finish_reason for choice in answer.choices] == ["length"] * 2
    assert answer.usage is not None and answer.usage.completion_tokens == 32
    with_usage = list(
        client.completions.create(
            model="default", prompt="Go on", stream=True, stream_options={"include_usage": True}
        )
    )
    assert with_usage[-1].usage is not None and with_usage[-1].choices == []


def test_roles_and_text_parts_are_understood_and_harmless_fields_let_be(client: OpenAI) -> None:
    answer = client.chat.completions.create(
        model="default",
        messages=[
            {"role": "developer", "content": "Be brief"},
            {
                "role": "system",
                "content": [{"type": "text", "text": "and"}, {"type": "text", "text": " kind"}],
            },
            {"role": "user", "content": [{"type": "text", "text": "Say it"}]},
        ],
        seed=7,
        user="somebody",
        store=False,
        metadata={"a": "b"},
        service_tier="auto",
        response_format={"type": "text"},
        tools=[],
        logit_bias={"5": -100},
        presence_penalty=0.5,
        frequency_penalty=0.5,
        extra_body={
            "min_p": 0.1,
            "top_k": -1,
            "repetition_penalty": 1.1,
            "min_tokens": 2,
            "ignore_eos": False,
        },
    )
    assert answer.choices[0].message.content == TEXT
    assert answer.usage is not None and answer.usage.prompt_tokens == 6


def test_models_are_listed_and_found_by_name(client: OpenAI) -> None:
    assert [(model.id, model.object) for model in client.models.list()] == [("scripted", "model")]
    assert client.models.retrieve("scripted").owned_by == "firstword"
    with pytest.raises(openai.NotFoundError) as raised:
        client.models.retrieve("organisation/other")
    assert raised.value.code == "model_not_found" and raised.value.request_id


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"temperature": 2.5}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": 100_000}, "max_completion_tokens"),
        ({"n": 9}, "n"),
        ({"stop": [""]}, "stop"),
        ({"top_logprobs": 2}, "top_logprobs"),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
        ({"logit_bias": {"a": 1}}, "logit_bias"),
        ({"logit_bias": {"1": 101}}, "logit_bias.1"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"tools": [TOOL]}, "tools"),
        ({"functions": [{"name": "f"}]}, "functions"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"modalities": ["text", "audio"]}, "modalities"),
        ({"audio": {"voice": "alloy", "format": "wav"}}, "audio"),
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [IMAGE]}]}, "messages[0].content[0].type"),
        ({"continue_final_message": True}, "continue_final_message"),
    ],
)
def test_what_cannot_be_done_is_refused_by_its_name(
    client: OpenAI, fields: dict[str, Any], param: str
) -> None:
    body = {"model": "default", "messages": ASK, **fields}
    with pytest.raises(openai.BadRequestError) as raised:
        # post(): what the typed methods would not let through has to be refused by the server.
        client.post("/chat/completions", cast_to=object, body=body)
    assert raised.value.param == param and param.split(".")[0] in raised.value.message
    assert raised.value.type == "invalid_request_error"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt": [1, 2, 3]}, "prompt"),
        ({"prompt": [[1, 2]]}, "prompt"),
        ({"prompt": ["a", "b"]}, "prompt"),
        ({"prompt": ""}, "prompt"),
        ({"prompt": None}, "prompt"),
        ({"echo": True}, "echo"),
        ({"suffix": "end"}, "suffix"),
        ({"best_of": 2}, "best_of"),
        ({"logprobs": True}, "logprobs"),
    ],
)
def test_completions_refuse_what_they_cannot_do_by_its_name(
    client: OpenAI, fields: dict[str, Any], param: str
) -> None:
    with pytest.raises(openai.BadRequestError) as raised:
        client.post("/completions", cast_to=object, body={"model": "default", "prompt": "Go", **fields})
    assert raised.value.param == param


def test_errors_before_the_first_byte_are_the_sdks_own_classes(connect: Callable[..., OpenAI]) -> None:
    client = connect(engine(context_tokens=16))
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="gpt-4o", messages=ASK, stream=True)
    assert missing.value.code == "model_not_found" and missing.value.param == "model"
    with pytest.raises(openai.BadRequestError) as long:
        client.chat.completions.create(
            model="default", messages=[{"role": "user", "content": "word " * 50}], stream=True
        )
    assert long.value.code == "context_length_exceeded" and "50" in long.value.message
    assert long.value.request_id


def test_a_wrong_key_is_an_authentication_error(connect: Callable[..., OpenAI]) -> None:
    with pytest.raises(openai.AuthenticationError) as raised:
        connect(key="wrong", api_key="right").chat.completions.create(model="default", messages=ASK)
    assert raised.value.code == "invalid_api_key"


def test_the_right_key_is_let_in(connect: Callable[..., OpenAI]) -> None:
    assert connect(key="right", api_key="right").models.list().data


def test_a_failure_before_the_first_text_is_a_status_that_says_not_to_retry(
    connect: Callable[..., OpenAI],
) -> None:
    client = connect(engine(fail_at=0))
    for stream in (False, True):
        with pytest.raises(openai.InternalServerError) as raised:
            client.chat.completions.create(model="default", messages=ASK, stream=stream)
        assert raised.value.status_code == 500
        assert raised.value.response.headers["x-should-retry"] == "false"


def test_a_failure_in_mid_stream_raises_after_the_text_so_far_and_never_finishes(
    connect: Callable[..., OpenAI],
) -> None:
    heard, finished = "", []
    with pytest.raises(openai.APIError) as raised:
        for chunk in connect(engine("one two three", fail_at=2)).chat.completions.create(
            model="default", messages=ASK, stream=True
        ):
            heard += chunk.choices[0].delta.content or ""
            finished += [chunk.choices[0].finish_reason]
    assert heard == "one two" and not any(finished)
    assert "failed" in raised.value.message and raised.value.code == "engine_error"


def test_all_n_answers_are_taken_or_none(connect: Callable[..., OpenAI], server: Serve) -> None:
    running = server(engine(slots=1, manual=True), max_waiting=2)
    with (
        OpenAI(base_url=f"{running.url}/v1", api_key="any", max_retries=0) as client,
        pytest.raises(openai.InternalServerError) as raised,
    ):
        client.chat.completions.create(model="default", messages=ASK, n=3)
    assert raised.value.status_code == 503 and raised.value.response.headers["retry-after"] == "2"
    assert len(running.replies) == 0
