"""Detection: which dialect a base speaks, and which model it serves, found out by asking.

Only questions that cost nothing are asked: lists, and requests so wrong that nothing is generated.
It refuses to know how answers are streamed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.client.asking import request_raw
from app.client.connection import Patience
from app.client.dialects import anthropic, openai
from app.client.dialects.dialect import Dialect, Question, common_headers, json_object, part_of
from app.client.dialects.firstword import NDJSON
from app.client.dialects.plain import PLAIN
from app.client.exchange import Exchange
from app.client.http_answer import Request
from app.client.target import NoAnswer, Target, WrongUrl

_PATIENCE = Patience(connect_s=10.0, silence_s=10.0, total_s=15.0)
_PROBE = "/api/probe"


async def settled(target: Target, question: Question) -> tuple[Target, Question]:
    """The target with its dialect and the question with its model's name.

    Raises WrongUrl when the server speaks nothing that we know, NoAnswer when it does not even speak
    HTTP, CannotConnect.
    """
    if target.dialect is None:
        target = await _detected(target, question)
    if question.model == "default" and target.dialect in (openai.CHAT, openai.TEXT, anthropic.MESSAGES):
        question = replace(question, model=await _first_model(target, question) or "default")
    return target, question


async def is_firstword(target: Target, question: Question) -> bool:
    """Whether a Firstword answers at the target's base."""
    answer = await _get(target, question, f"{base_of(target)}{_PROBE}?ticks=1&every_ms=0")
    return answer.error is None and part_of(json_object(_json_part(answer)), "type") == "tick"


def base_of(target: Target) -> str:
    """The path below which the target's server has its endpoints."""
    if target.dialect is None:
        return target.path
    bare = target.path.partition("?")[0]
    return bare.removesuffix(target.dialect.path) if bare.endswith(target.dialect.path) else ""


# Private


async def _detected(target: Target, question: Question) -> Target:
    if await is_firstword(target, question):
        return target.speaking(NDJSON)
    models = await _get(target, question, f"{target.path}/v1/models")
    listed = json_object(models.text) or {}
    if models.error is None and isinstance(listed.get("data"), list):
        # Anthropic's own list has no "object"; everybody else copies OpenAI's.
        return target.speaking(openai.CHAT if "object" in listed else anthropic.MESSAGES)
    for dialect in (openai.CHAT, anthropic.MESSAGES):
        if await _exists(target, question, "POST", target.path + dialect.path):
            return target.speaking(dialect)
    if await _exists(target, question, "GET", target.path + PLAIN.path):
        return target.speaking(PLAIN)
    if target.path:
        return replace(target, dialect=PLAIN)
    if models.head is None:
        raise NoAnswer(f"{target.url} was reached, but it does not answer in HTTP: {models.error}")
    raise WrongUrl(
        f"{target.url} answers, but none of the endpoints that we know: "
        "give the endpoint's whole URL, or name its --dialect"
    )


async def _exists(target: Target, question: Question, method: str, path: str) -> bool:
    """Whether something is there, asked so that it must be refused."""
    headers = {**common_headers(question), "Content-Type": "application/json"}
    request = Request(method, path, headers, b"{}" if method == "POST" else b"")
    answer = await request_raw(target, request, _PATIENCE)
    return answer.head is not None and answer.head.status not in (404, 405, 501)


async def _first_model(target: Target, question: Question) -> str | None:
    answer = await _get(target, question, f"{base_of(target)}/v1/models")
    name: Any = part_of(json_object(answer.text), "data", 0, "id")
    return name if isinstance(name, str) and name else None


async def _get(target: Target, question: Question, path: str) -> Exchange:
    headers = {**common_headers(question), "Accept": "application/json"}
    if target.dialect is anthropic.MESSAGES:
        headers |= {"anthropic-version": "2023-06-01", "x-api-key": question.key}
    return await request_raw(target, Request("GET", path, headers), _PATIENCE)


def _json_part(answer: Exchange) -> str:
    """The first event of a stream, whichever of our wires it came over."""
    return answer.text.removeprefix("data:").split("\n", 1)[0].strip()


def known_to_take(dialect: Dialect) -> bool:
    """Whether wrong requests to ``dialect`` have a contract of their own."""
    return dialect in (openai.CHAT, openai.TEXT, anthropic.MESSAGES)
