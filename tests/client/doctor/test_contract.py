"""The vendors' contracts, as a table: streams written down by hand and what is wrong with each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from app.client.doctor import contract_anthropic, contract_openai, frames
from app.client.doctor.observations import Observations
from app.client.exchange import Exchange
from tests.client.doctor.exchanges import refusal, sse, steady, whole


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice], **more}


ROLE = chunk({"role": "assistant", "content": ""})
WORD = chunk({"content": "word "})
END = chunk(finish="stop")
USAGE = chunk(choices=[], usage={"prompt_tokens": 1, "completion_tokens": 2})
DONE = "[DONE]"

OPENAI: list[tuple[str, Exchange, set[str]]] = [
    ("healthy", sse(ROLE, WORD, WORD, END, USAGE, DONE), set()),
    (
        "usage in every chunk and at the end",
        sse(ROLE, chunk({"content": "a"}, usage={"x": 1}), END, USAGE, DONE),
        set(),
    ),
    ("no [DONE]", sse(ROLE, WORD, END, USAGE), {"missing-done"}),
    ("no finish_reason", sse(ROLE, WORD, USAGE, DONE), {"missing-finish-reason"}),
    ("two finish_reasons", sse(ROLE, WORD, END, END, USAGE, DONE), {"repeated-finish-reason"}),
    ("no usage", sse(ROLE, WORD, END, DONE), {"missing-usage"}),
    (
        "usage with the last choice",
        sse(ROLE, WORD, chunk(finish="stop", usage={"completion_tokens": 1}), DONE),
        {"usage-beside-choices"},
    ),
    (
        "two roles",
        sse(ROLE, chunk({"role": "assistant", "content": "a"}), END, USAGE, DONE),
        {"repeated-role"},
    ),
    ("role long before", sse(ROLE, *[chunk()] * 9, WORD, END, USAGE, DONE), {"early-role-chunk"}),
    ("another object", sse(ROLE, {**WORD, "object": "text"}, END, USAGE, DONE), {"wrong-object"}),
    ("failed: the tail is not asked for", sse(ROLE, WORD, {"error": {"message": "x"}}, error="x"), set()),
    ("cut: the tail is not asked for", sse(ROLE, WORD, end="cut", error="cut off"), set()),
]


@pytest.mark.parametrize(("exchange", "codes"), [row[1:] for row in OPENAI], ids=[row[0] for row in OPENAI])
def test_openais_contract(exchange: Exchange, codes: set[str]) -> None:
    assert {finding.code for finding in contract_openai.judge(exchange, "openai")} == codes


def test_completions_have_another_object_and_no_role() -> None:
    first = {"object": "text_completion", "choices": [{"index": 0, "text": "a", "finish_reason": None}]}
    last = {"object": "text_completion", "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}
    usage = {"object": "text_completion", "choices": [], "usage": {"completion_tokens": 1}}
    assert contract_openai.judge(sse(first, last, usage, DONE), "openai-text") == []


def test_ids_are_found_wherever_they_stand() -> None:
    raw = b'id: 1\ndata: {"object":"chat.completion.chunk","choices":[]}\n\n'
    assert "sse-id" in {finding.code for finding in contract_openai.judge(sse(raw=raw), "openai")}


def event(kind: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"type": kind, **fields}


START = event("message_start", message={"usage": {"input_tokens": 1}})
OPEN = event("content_block_start", index=0)
PING = event("ping")
TEXT = event("content_block_delta", index=0, delta={"type": "text_delta", "text": "a"})
CLOSE = event("content_block_stop", index=0)
DELTA = event("message_delta", delta={"stop_reason": "end_turn"}, usage={"output_tokens": 1})
STOP = event("message_stop")

ANTHROPIC: list[tuple[str, Exchange, set[str]]] = [
    ("healthy", sse(START, OPEN, PING, TEXT, TEXT, CLOSE, DELTA, STOP), set()),
    ("two blocks", sse(START, OPEN, TEXT, CLOSE, OPEN, TEXT, CLOSE, DELTA, STOP), set()),
    ("no text", sse(START, DELTA, STOP), set()),
    ("ping first", sse(PING, START, OPEN, TEXT, CLOSE, DELTA, STOP), {"event-order"}),
    ("text first", sse(OPEN, TEXT, CLOSE, DELTA, STOP), {"event-order"}),
    ("started twice", sse(START, START, OPEN, TEXT, CLOSE, DELTA, STOP), {"event-order"}),
    ("block not closed", sse(START, OPEN, TEXT, DELTA, STOP), {"event-order"}),
    ("no end", sse(START, OPEN, TEXT, CLOSE, DELTA), {"missing-done"}),
    ("no names", sse(START[1], OPEN[1], TEXT[1], CLOSE[1], DELTA[1], STOP[1]), {"missing-event-name"}),
    ("other name", sse(START, ("block", OPEN[1]), TEXT, CLOSE, DELTA, STOP), {"event-name-mismatch"}),
    ("no usage", sse(event("message_start", message={}), OPEN, TEXT, CLOSE, DELTA, STOP), {"missing-usage"}),
    (
        "no reason",
        sse(START, OPEN, TEXT, CLOSE, event("message_delta", delta={}, usage={"output_tokens": 1}), STOP),
        {"missing-stop-reason"},
    ),
    ("failed", sse(START, OPEN, TEXT, event("error", error={"message": "x"}), error="x"), set()),
]


@pytest.mark.parametrize(
    ("exchange", "codes"), [row[1:] for row in ANTHROPIC], ids=[row[0] for row in ANTHROPIC]
)
def test_anthropics_contract(exchange: Exchange, codes: set[str]) -> None:
    assert {finding.code for finding in contract_anthropic.judge(exchange)} == codes


OURS = {"error": {"message": "x"}}
THEIRS = {"type": "error", "error": {"type": "invalid_request_error", "message": "x"}}


@pytest.mark.parametrize(
    ("status", "body", "openai", "anthropic"),
    [
        (400, OURS, [], ["error-shape"]),
        (400, THEIRS, [], []),
        (422, {"detail": [{"msg": "x"}]}, ["error-shape"], ["error-shape"]),
        (400, "Bad Request", ["error-shape"], ["error-shape"]),
        (500, OURS, ["error-as-500"], ["error-as-500"]),
        (200, OURS, ["error-as-200"], ["error-as-200"]),
    ],
)
def test_refusals(status: int, body: Any, openai: list[str], anthropic: list[str]) -> None:
    answer = refusal(status, body)
    assert [finding.code for finding in contract_openai.judge_refusal(answer)] == openai
    assert [finding.code for finding in contract_anthropic.judge_refusal(answer)] == anthropic


FORM: list[tuple[str, Exchange, set[str]]] = [
    ("healthy", sse(ROLE, WORD, DONE), set()),
    ("no blank lines", sse(raw=b'data: {"a":1}\ndata: {"a":2}\n'), {"sse-no-blank-line"}),
    ("blank lines now and then", sse(raw=b'data: {"a":1}\ndata: {"a":2}\n\n' * 3), {"sse-no-blank-line"}),
    ("last event not ended", sse(raw=b'data: {"a":1}\n\ndata: [DONE]\n'), {"sse-unfinished-event"}),
    ("not JSON", sse(raw=b"data: {oops\n\n"), {"invalid-json"}),
    ("empty", sse(raw=b"event: ping\ndata:\n\n"), {"empty-event"}),
    ("half characters on the wire", sse(raw=b'data: {"a":"\xe0\xa4"}\n\n'), {"broken-characters"}),
    (
        "characters replaced at a border",
        sse(chunk({"content": "a\ufffd"}), chunk({"content": "\ufffdb"})),
        {"broken-characters"},
    ),
    ("one replacement character may be meant", sse(chunk({"content": "a\ufffd"}), WORD), set()),
    ("told an error", sse(WORD, {"error": {"message": "x"}}, error="x"), {"error-in-stream"}),
    (
        "told an error and hung",
        sse(WORD, {"error": {"message": "x"}}, error="x", end="silent"),
        {"error-in-stream", "hangs-after-error"},
    ),
    ("went silent", sse(WORD, error="nothing came", end="silent"), {"goes-silent"}),
    ("never ended", sse(WORD, DONE, end="lingering"), {"never-ends"}),
    ("was cut", sse(WORD, error="cut off", end="cut"), {"cut-off"}),
]


@pytest.mark.parametrize(("exchange", "codes"), [row[1:] for row in FORM], ids=[row[0] for row in FORM])
def test_the_form_of_a_stream(exchange: Exchange, codes: set[str]) -> None:
    assert {finding.code for finding in frames.judge(Observations("openai", exchange))} == codes


def test_a_replacement_character_that_the_whole_answer_has_not_was_made_by_streaming() -> None:
    exchange = sse(chunk({"content": "a\ufffd"}), WORD)
    seen = Observations("openai", exchange, whole=whole(100, "aé word "))
    assert [finding.code for finding in frames.judge(seen)] == ["broken-characters"]


def test_our_own_wires_must_say_that_they_are_done() -> None:
    undone = replace(steady(), finish_reason=None)
    assert [f.code for f in frames.judge(Observations("ndjson", undone))] == ["missing-done"]
    assert frames.judge(Observations("ndjson", steady())) == []
