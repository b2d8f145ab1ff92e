"""Our events as OpenAI's chunks: golden bytes and the rules between frames."""

import itertools
import json
from typing import Any

import pytest

from app.errors import EngineFailed
from app.events import Delta, Done, Queued, Started, Timings, Usage
from app.generation import FinishReason, TokenInfo
from app.transports.openai_answers import ChatStream, Head, TextStream, chat_answer, text_answer
from app.transports.outcome import outcome

HEAD = Head("chatcmpl-1", 1700000000, "m")
TIMINGS = Timings(0.0, 1.0, 1.0, 1.0, 0.0, 2.0)


def delta(text: str, seq: int = 1, info: list[TokenInfo] | None = None) -> Delta:
    return Delta("r", seq, text, 1, 1.0, info or [])


def done(reason: FinishReason = "stop", prompt_tokens: int = 3, tokens: int = 2, cached: int = 0) -> Done:
    usage = Usage(prompt_tokens, tokens, prompt_tokens + tokens, cached)
    return Done("r", 2, reason, usage, TIMINGS, 2.0)


def frames(data: bytes) -> list[Any]:
    """The JSON of each frame; ``[DONE]`` as it is."""
    assert data == b"" or data.endswith(b"\n\n")
    texts = [block.removeprefix("data: ") for block in data.decode().split("\n\n")[:-1]]
    return [text if text == "[DONE]" else json.loads(text) for text in texts]


def test_the_frames_of_a_chat_answer_are_these_bytes() -> None:
    stream = ChatStream(HEAD, 1)
    assert stream.on(0, Queued("r", 0, 0.0)) == b""
    assert stream.on(0, Started("r", "m", 3, 0, 0.1)) == b""
    head = b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m",'
    assert stream.on(0, delta("Hi \u00e9\u2028")) == (
        head + b'"choices":[{"index":0,"delta":{"role":"assistant","content":""},'
        b'"logprobs":null,"finish_reason":null}]}\n\n'
        + head
        + b'"choices":[{"index":0,"delta":{"content":"Hi \xc3\xa9\\u2028"},'
        b'"logprobs":null,"finish_reason":null}]}\n\n'
    )
    assert not stream.over
    assert stream.on(0, done()) == (
        head + b'"choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]}\n\n'
        b"data: [DONE]\n\n"
    )
    assert stream.over


def test_the_frames_of_a_completion_are_these_bytes() -> None:
    stream = TextStream(Head("cmpl-1", 5, "m"), 1)
    head = b'data: {"id":"cmpl-1","object":"text_completion","created":5,"model":"m",'
    assert stream.on(0, Started("r", "m", 3, 0, 0.1)) == b""
    assert stream.on(0, delta("Hi")) == (
        head + b'"choices":[{"index":0,"text":"Hi","logprobs":null,"finish_reason":null}]}\n\n'
    )
    assert stream.on(0, done("length")) == (
        head + b'"choices":[{"index":0,"text":"","logprobs":null,"finish_reason":"length"}]}\n\n'
        b"data: [DONE]\n\n"
    )


def test_nothing_is_written_before_there_is_text_so_that_no_frame_fakes_a_first_token() -> None:
    for stream in (ChatStream(HEAD, 2), TextStream(HEAD, 2)):
        assert stream.on(0, Queued("r", 3, 0.0)) + stream.on(0, Started("r", "m", 3, 0, 1.0)) == b""
        assert stream.on(1, delta("")) == b""


def test_all_choices_open_in_order_with_the_first_text_of_any_of_them() -> None:
    stream = ChatStream(HEAD, 3)
    opened = frames(stream.on(2, delta("late")))
    choices = [frame["choices"][0] for frame in opened]
    assert [(c["index"], c["delta"]) for c in choices] == [
        (0, {"role": "assistant", "content": ""}),
        (1, {"role": "assistant", "content": ""}),
        (2, {"role": "assistant", "content": ""}),
        (2, {"content": "late"}),
    ]
    assert [f["choices"][0]["delta"] for f in frames(stream.on(0, delta("a")))] == [{"content": "a"}]


@pytest.mark.parametrize("kind", [ChatStream, TextStream])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_each_choice_finishes_once_and_usage_comes_once_and_last(
    kind: type[ChatStream | TextStream], order: tuple[int, ...]
) -> None:
    stream = kind(HEAD, 3, include_usage=True)
    made = b""
    for index in order:
        made += stream.on(index, delta("x"))
    for index in order:
        assert not stream.over
        made += stream.on(index, done(tokens=index + 1, cached=2))
    *chunks, usage, end = frames(made)
    assert end == "[DONE]" and usage["choices"] == []
    assert usage["usage"] == {
        "prompt_tokens": 3,
        "completion_tokens": 6,
        "total_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 2},
    }
    assert all(chunk["usage"] is None for chunk in chunks)
    finished = [c["choices"][0]["index"] for c in chunks if c["choices"][0]["finish_reason"]]
    assert finished == list(order)


def test_without_include_usage_no_frame_has_the_key() -> None:
    stream = ChatStream(HEAD, 1)
    made = stream.on(0, delta("x")) + stream.on(0, done())
    assert all("usage" not in frame for frame in frames(made)[:-1])


def test_an_empty_answer_still_opens_and_finishes() -> None:
    made = frames(ChatStream(HEAD, 1).on(0, done(tokens=0)))
    assert [f["choices"][0]["delta"] for f in made[:-1]] == [{"role": "assistant", "content": ""}, {}]


def test_a_failure_is_an_error_frame_then_done_and_no_finish_reason() -> None:
    stream = ChatStream(HEAD, 2, include_usage=True)
    stream.on(0, delta("x"))
    assert stream.failed(EngineFailed("odd", param="p")) == (
        b'data: {"error":{"message":"odd","type":"server_error","param":"p","code":"engine_error"}}\n\n'
        b"data: [DONE]\n\n"
    )
    assert stream.over


def test_tokens_whose_text_comes_later_still_bring_their_logprobs() -> None:
    info = [TokenInfo(1, b"\xf0\x9f", -1.0)]
    chat = frames(ChatStream(HEAD, 1, logprobs=True).on(0, delta("", info=info)))[-1]["choices"][0]
    assert chat["delta"] == {"content": ""} and chat["logprobs"]["content"][0]["bytes"] == [0xF0, 0x9F]
    text = TextStream(HEAD, 1, logprobs=True)
    text.on(0, delta("ab", info=[TokenInfo(1, b"ab", -1.0)]))
    later = frames(text.on(0, delta("c", info=[TokenInfo(1, b"c", -1.0)])))[0]["choices"][0]
    assert later["logprobs"]["text_offset"] == [2]


def test_the_whole_answers_have_the_documented_shape() -> None:
    outcomes = [
        outcome([Started("r", "m", 3, 0, 0.1), delta("Hi", info=[TokenInfo(1, b"Hi", -1.0)]), done()]),
        outcome([done("length", tokens=0)]),
    ]
    chat = chat_answer(HEAD, outcomes)
    assert chat == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1700000000,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hi", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            },
            {
                "index": 1,
                "message": {"role": "assistant", "content": "", "refusal": None},
                "logprobs": None,
                "finish_reason": "length",
            },
        ],
        "usage": {
            "prompt_tokens": 3,
            "completion_tokens": 2,
            "total_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 0},
        },
    }
    text = text_answer(HEAD, outcomes[:1], logprobs=True)
    assert text["object"] == "text_completion"
    assert text["choices"][0]["text"] == "Hi" and text["choices"][0]["logprobs"]["tokens"] == ["Hi"]
