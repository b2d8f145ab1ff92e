"""All dialects by name, and which one an endpoint's path speaks."""

from __future__ import annotations

from app.client.dialects import anthropic, firstword, openai, plain
from app.client.dialects.dialect import Dialect

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        firstword.NDJSON,
        firstword.SSE,
        firstword.WEBSOCKET,
        openai.CHAT,
        openai.TEXT,
        anthropic.MESSAGES,
        plain.PLAIN,
    )
}


def spoken_at(path: str) -> Dialect | None:
    """The dialect of an endpoint by its path; None: the path names no endpoint that we know."""
    endings = {
        dialect.path: dialect for dialect in reversed(DIALECTS.values())
    }  # /api/replies means its first dialect
    return next((dialect for end, dialect in endings.items() if path.endswith(end)), None)
