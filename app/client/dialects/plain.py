"""Plain chunked text: the answer and nothing else, the shortest streaming server there is.

The question goes into the query (``prompt``, ``max_tokens``, …), as in the lesson's two endpoints. How
the text ended cannot be told by it, nor how many tokens it had.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

from app.client.dialects.dialect import Dialect, Question, common_headers, json_object
from app.client.dialects.firstword import hear_whole as hear_json
from app.client.exchange import Frame
from app.client.hearing import Hearing, TextFraming
from app.client.http_answer import Request

_STREAMED = "/generate-stream"
_WHOLE = "/generate-full"


def hear(hearing: Hearing, frame: Frame) -> None:
    """One piece of text."""
    hearing.say(frame.at_ns, frame.data)


def hear_whole(hearing: Hearing, frame: Frame) -> None:
    """JSON with ``text``, or the text itself."""
    answer = json_object(frame.data)
    if answer is not None and isinstance(answer.get("text"), str):
        hear_json(hearing, frame)
    else:
        hearing.say(frame.at_ns, frame.data)


# Private


def _get(question: Question, path: str, accept: str) -> Request:
    path, _, own = path.partition("?")
    query = urlencode({"prompt": question.prompt, **question.sampling}, quote_via=quote)
    query = f"{own}&{query}" if own else query
    return Request("GET", f"{path}?{query}", {"Accept": accept, **common_headers(question)})


def _ask(question: Question, path: str) -> Request:
    return _get(question, path, "text/plain, */*")


def _ask_whole(question: Question, path: str) -> Request | None:
    bare, mark, query = path.partition("?")
    if not bare.endswith(_STREAMED):
        return None
    return _get(question, bare.removesuffix(_STREAMED) + _WHOLE + mark + query, "application/json")


PLAIN = Dialect("plain", "plain chunked text", _STREAMED, TextFraming, _ask, hear, _ask_whole, hear_whole)
