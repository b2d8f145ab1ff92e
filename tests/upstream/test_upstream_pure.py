"""The parts of the upstream engine that decide without I/O: request, chunk, transcript, refusal, address."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.errors import BadRequest, PromptTooLong, StartupError, UpstreamFailed
from app.generation import TokenInfo
from app.prompt import Message, Prompt, Sampling
from app.settings import Settings
from app.upstream import request
from app.upstream.address import address_of
from app.upstream.chunk import Chunk, Unreadable, Usage, read_chunk
from app.upstream.refusal import MAX_MESSAGE_CHARS, in_stream, refusal
from app.upstream.transcript import MAX_CHARS_A_TOKEN, Transcript

HELLO = (Message("user", "hello"),)


def read(**frame: Any) -> Chunk:
    return read_chunk(json.dumps(frame))


# request


def test_a_plain_prompt_sends_the_contracts_fields_and_nothing_that_a_strict_server_refuses() -> None:
    assert request.body(Prompt("a", HELLO, max_tokens=9), "m") == {
        "model": "m",
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 9,
        "temperature": 0.0,
        "top_p": 1.0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_every_sampling_field_that_asks_for_something_is_sent() -> None:
    sampling = Sampling(0.5, 0.9, 40, 0.05, 7, 1.1, 0.2, 0.3, {5: -1.0}, 3)
    prompt = Prompt("a", HELLO, sampling=sampling, min_tokens=2, stop=("x",), ignore_eos=True)
    body = request.body(prompt, "m")
    expected = {
        "temperature": 0.5, "top_p": 0.9, "top_k": 40, "min_p": 0.05, "seed": 7, "repetition_penalty": 1.1,
        "presence_penalty": 0.2, "frequency_penalty": 0.3, "logit_bias": {"5": -1.0}, "logprobs": True,
        "top_logprobs": 3, "min_tokens": 2, "stop": ["x"], "ignore_eos": True,
    }  # fmt: skip
    assert {key: body[key] for key in expected} == expected


def test_seed_zero_is_a_seed() -> None:
    assert request.body(Prompt("a", HELLO, sampling=Sampling(seed=0)), "m")["seed"] == 0


def test_a_raw_text_goes_to_completions_and_asks_for_logprobs_in_their_way() -> None:
    prompt = Prompt("a", text="Once", sampling=Sampling(logprobs=2))
    body = request.body(prompt, "m")
    assert request.path(prompt) == "/completions"
    assert body["prompt"] == "Once" and body["logprobs"] == 2
    assert "messages" not in body and "top_logprobs" not in body


def test_a_last_message_is_continued_and_running_counts_are_asked_of_those_who_know_them() -> None:
    body = request.body(Prompt("a", HELLO, continue_last=True), "m", "vllm")
    assert body["continue_final_message"] is True and body["add_generation_prompt"] is False
    assert body["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}


# chunk


def test_chat_chunks_completions_and_whole_answers_are_read_alike() -> None:
    assert read(choices=[{"delta": {"content": "hi"}}]).text == "hi"
    assert read(choices=[{"text": "hi", "finish_reason": "length"}]) == Chunk("hi", finish="length")
    whole = read(
        choices=[{"message": {"content": "hi"}, "finish_reason": "stop"}], usage={"prompt_tokens": 3}
    )
    assert (whole.text, whole.finish, whole.usage) == ("hi", "stop", Usage(3))


def test_a_usage_frame_has_no_choice_and_other_choices_are_not_ours() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 2}}
    chunk = read(choices=[], usage=usage)
    assert chunk.text == "" and chunk.usage is not None and chunk.usage.cached_tokens == 2
    assert read(choices=[{"index": 1, "delta": {"content": "no"}}]) == Chunk()


def test_logprobs_of_half_a_character_keep_its_bytes() -> None:
    top = [{"token": "b", "logprob": -2, "bytes": None}]
    entry = {"token": "\ufffd", "logprob": -0.5, "bytes": [240, 159], "top_logprobs": top}
    chunk = read(choices=[{"delta": {"content": ""}, "logprobs": {"content": [entry]}}])
    assert chunk.info == (TokenInfo(-1, b"\xf0\x9f", -0.5, [(-1, b"b", -2.0)]),)


def test_logprobs_of_completions_are_read_most_likely_first() -> None:
    logprobs = {"tokens": ["a"], "token_logprobs": [None], "top_logprobs": [{"b": -3.0, "a": -1.0}]}
    chunk = read(choices=[{"text": "a", "logprobs": logprobs}])
    assert chunk.info == (TokenInfo(-1, b"a", 0.0, [(-1, b"a", -1.0), (-1, b"b", -3.0)]),)


@pytest.mark.parametrize(
    "data",
    [
        "not json",
        "[]",
        '{"choices": 3}',
        '{"choices": [{"delta": {"content": 3}}]}',
        '{"choices": [{"logprobs": {"content": [{}]}}]}',
        '{"choices": [{"logprobs": {"content": [3]}}]}',
        '{"choices": [{"logprobs": "all"}]}',
        '{"choices": [{"logprobs": {"content": [{"token": "a", "logprob": -1, "bytes": [300]}]}}]}',
        '{"choices": [{"logprobs": {"content": [{"token": "a", "logprob": -1%s}]}}]}' % ("0" * 400),
        '{"usage": {"prompt_tokens": -1, "completion_tokens": 1}}',
        '{"usage": {"prompt_tokens": 1, "completion_tokens": 99999999999999999999}}',
        '{"choices": [{"delta": {"content": "\\ud83d"}}]}',
        b"\xff",
    ],
)
def test_a_frame_of_another_shape_is_unreadable(data: str | bytes) -> None:
    with pytest.raises(Unreadable, match="cannot read the frame"):
        read_chunk(data)


def test_bytes_of_a_token_that_are_no_list_are_not_made_into_zeros() -> None:
    entry = {"token": "a", "logprob": -0.5, "bytes": 10**9}
    chunk = read(choices=[{"delta": {"content": "a"}, "logprobs": {"content": [entry]}}])
    assert chunk.info == (TokenInfo(-1, b"a", -0.5, []),)


def test_errors_are_found_wrapped_and_in_the_older_vllm_way() -> None:
    assert read(error={"message": "boom"}).error == {"message": "boom"}
    assert read(error="boom").error == "boom"
    assert read(object="error", message="boom", type="X", code=400).error == "boom"


# transcript


def transcript(*stops: str, max_tokens: int = 100) -> Transcript:
    return Transcript(Prompt("a", HELLO, max_tokens=max_tokens, stop=stops))


def test_without_counts_a_text_delta_is_one_token_and_a_role_is_none() -> None:
    answer = transcript()
    assert answer.take(Chunk(), 1) == ""
    assert answer.piece(answer.take(Chunk("hi"), 2), 2).tokens == 1
    answer.take(Chunk(finish="stop"), 3)
    ended = answer.ended("stop", 4, 1, 0)
    assert (ended.completion_tokens, ended.first_token_ns, ended.last_token_ns) == (1, 2, 2)


def test_running_usage_counts_the_tokens_of_each_delta_also_of_those_without_text() -> None:
    answer = transcript()
    answer.take(Chunk(usage=Usage(5, 2)), 1)
    assert answer.piece(answer.take(Chunk("abc", usage=Usage(5, 4)), 2), 2).tokens == 4
    assert answer.piece(answer.take(Chunk("d", usage=Usage(5, 5)), 3), 3).tokens == 1
    ended = answer.ended("stop", 4, 1, 0)
    assert (ended.prompt_tokens, ended.completion_tokens) == (5, 5)


def test_logprob_entries_count_tokens_and_wait_for_text() -> None:
    answer = transcript()
    half = TokenInfo(-1, b"\xf0\x9f", -1.0)
    answer.take(Chunk(info=(half,)), 1)
    piece = answer.piece(answer.take(Chunk("\U0001f600", info=(half,)), 2), 2)
    assert piece.tokens == 2 and piece.info == [half, half]


def test_the_final_usage_corrects_the_count() -> None:
    answer = transcript()
    answer.take(Chunk("hello there", finish="length"), 1)
    answer.take(Chunk(usage=Usage(7, 42)), 2)
    ended = answer.ended("length", 3, 0, 0)
    assert (ended.finish_reason, ended.prompt_tokens, ended.completion_tokens) == ("length", 7, 42)


def test_a_stop_string_that_the_upstream_sends_is_cut_and_named() -> None:
    answer = transcript("END")
    shown = [answer.take(Chunk(text), 1) for text in ("one E", "N", "x EN", "D more")]
    assert shown == ["one ", "", "ENx ", ""]
    assert answer.finish == "stop" and answer.stopped_here
    assert answer.ended("stop", 2, 1, 0).stop == "END"


def test_text_held_back_as_a_possible_stop_is_given_at_the_end() -> None:
    answer = transcript("END")
    assert answer.take(Chunk("the EN"), 1) == "the "
    assert answer.take(Chunk(finish="stop", stop="</s>"), 2) == "EN"
    assert answer.ended("stop", 3, 1, 0).stop == "</s>"


@pytest.mark.parametrize("word", ["abort", "error", "content_filter"])
def test_a_bad_ending_is_a_failure_after_its_text(word: str) -> None:
    answer = transcript()
    assert answer.take(Chunk("half", finish=word), 1) == "half"
    assert isinstance(answer.failure, UpstreamFailed) and word in answer.failure.message
    assert answer.finish is None


def test_an_upstream_that_ignores_max_tokens_is_ended() -> None:
    answer = transcript(max_tokens=1)
    answer.take(Chunk("x" * MAX_CHARS_A_TOKEN), 1)
    assert answer.failure is None
    assert answer.take(Chunk("x"), 2) == ""
    assert isinstance(answer.failure, UpstreamFailed)


# refusal


@pytest.mark.parametrize(
    "error",
    [
        {"message": "too long", "code": "context_length_exceeded", "param": "messages"},
        {
            "message": "This model's maximum context length is 64 tokens. However, you requested 99",
            "code": 400,
        },
        {"message": "request (99 tokens) exceeds the available context size (64 tokens)"},
        {"message": "x", "type": "exceed_context_size_error"},
        {"message": "The decoder prompt (length 99) is longer than the maximum model length of 64"},
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 64. Given: 99",
    ],
)
def test_every_servers_way_to_say_too_long_is_understood(error: Any) -> None:
    told = refusal(400, json.dumps({"error": error}).encode())
    assert isinstance(told, PromptTooLong) and told.param == "messages"


def test_a_bad_parameter_is_the_callers_and_names_it() -> None:
    told = refusal(400, b'{"error": {"message": "temperature must be positive", "param": "temperature"}}')
    assert type(told) is BadRequest and told.param == "temperature"
    assert "answered 400: temperature must be positive" in told.message
    assert type(refusal(422, b'{"detail": "Unexpected fields"}')) is BadRequest


@pytest.mark.parametrize(
    ("status", "body"), [(500, b"<h1>Oops</h1>"), (404, b""), (429, b"[1]"), (401, b"{}")]
)
def test_any_other_status_is_the_upstreams_failure_with_its_number(status: int, body: bytes) -> None:
    told = refusal(status, body)
    assert isinstance(told, UpstreamFailed) and str(status) in told.message


def test_a_long_message_is_shortened_to_one_line() -> None:
    told = refusal(500, b"line\n" * 10_000)
    assert "\n" not in told.message and len(told.message) < MAX_MESSAGE_CHARS + 60


def test_an_error_frame_may_be_a_string_an_object_or_say_too_long() -> None:
    assert "out of memory" in in_stream("out of memory").message
    assert "boom" in in_stream({"message": "boom"}).message
    assert isinstance(in_stream({"message": "maximum context length is 64"}), PromptTooLong)


# address


@pytest.mark.parametrize(
    ("given", "root"),
    [
        ("http://gpu:8000", "http://gpu:8000"),
        ("http://gpu:8000/", "http://gpu:8000"),
        ("http://gpu:8000/v1", "http://gpu:8000"),
        ("https://gpu/openai/v1/", "https://gpu/openai"),
    ],
)
def test_a_base_url_is_taken_with_and_without_v1(given: str, root: str) -> None:
    address = address_of(Settings(upstream=given), {})
    assert address.root == root and address.api == f"{root}/v1"


@pytest.mark.parametrize("given", ["", "gpu:8000", "ftp://gpu", "http://", "http://gpu/?x=1", "http://[::1"])
def test_anything_else_cannot_start_and_names_the_setting(given: str) -> None:
    with pytest.raises(StartupError, match="FIRSTWORD_UPSTREAM="):
        address_of(Settings(upstream=given), {})


def test_the_key_comes_from_the_named_variable_and_is_never_shown() -> None:
    settings = Settings(upstream="http://me:secret@gpu", upstream_key_env="GPU_KEY")
    with pytest.raises(StartupError, match="GPU_KEY, which is not set"):
        address_of(settings, {})
    address = address_of(settings, {"GPU_KEY": "sk-1"})
    assert address.key == "sk-1" and "sk-1" not in repr(address)
    assert "secret" not in address.shown
    assert address.scrub("wrong key sk-1") == "wrong key [key]"


def test_no_token_of_a_stop_string_that_the_upstream_has_sent_is_told() -> None:
    answer = transcript("END")
    infos = [TokenInfo(n, data, -0.5) for n, data in enumerate((b"a", b" E", b"ND"))]
    pieces = [
        answer.piece(answer.take(Chunk(info.data.decode(), info=(info,)), n), n)
        for n, info in enumerate(infos)
    ]
    assert "".join(piece.text for piece in pieces) == "a "
    assert [info.data for piece in pieces for info in piece.info] == [b"a", b" E"]
    assert answer.stopped_here
