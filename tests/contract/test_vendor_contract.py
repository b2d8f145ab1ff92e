"""One answer, every vendor's wire, one text: the same bytes, end and usage, streamed and not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx
import pytest

from app.engine.script import Script, spoken
from app.engine.scripted import ScriptedEngine
from tests.contract.vendor_wires import MAX_TOKENS, VENDOR_WIRES, Answer
from tests.server import Running

#: name -> (script, stop strings, the text that all wires must give, how it ends)
ANSWERS: dict[str, tuple[Script, list[str], str, str]] = {
    "emoji families": (spoken("👩‍👩‍👧‍👦 and 🏳️‍🌈", 0.0), [], "👩‍👩‍👧‍👦 and 🏳️‍🌈", "stop"),
    "Devanagari": (spoken("नमस्ते दुनिया", 0.0), [], "नमस्ते दुनिया", "stop"),
    "CJK": (spoken("你好，世界。", 0.0), [], "你好，世界。", "stop"),
    "Arabic": (spoken("مرحبا بالعالم", 0.0), [], "مرحبا بالعالم", "stop"),
    "code": (spoken('def f():\n\treturn "\\n"\r\n', 0.0), [], 'def f():\n\treturn "\\n"\r\n', "stop"),
    "odd line ends": (spoken("a\u2028b\u2029c\u0085d", 0.0), [], "a\u2028b\u2029c\u0085d", "stop"),
    "control characters": (spoken("\x00\x1b[1m \x7f", 0.0), [], "\x00\x1b[1m \x7f", "stop"),
    "one token": (spoken("Yes", 0.0), [], "Yes", "stop"),
    "no text": (spoken("END", 0.0), ["END"], "", "stop"),
    "a stop string over tokens": (spoken("one two three", 0.0), ["o th"], "one tw", "stop"),
    "a cut character at the end": ([(b"a", 0.0), (b"\xf0\x9f", 0.0)], [], "a\ufffd", "stop"),
    "too long": (spoken("word " * 80, 0.0), [], ("word " * MAX_TOKENS).rstrip(), "length"),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_all_wires_give_the_same_text_end_and_usage(
    serve: Callable[..., Awaitable[Running]], name: str
) -> None:
    script, stop, text, finish_reason = ANSWERS[name]
    running = await serve(ScriptedEngine(script))
    async with httpx.AsyncClient(timeout=30) as client:
        answers = {wire: await ask(client, running.url, stop) for wire, ask in VENDOR_WIRES.items()}
    made = answers["chat, whole"].completion_tokens
    assert made > 0
    assert answers == dict.fromkeys(VENDOR_WIRES, Answer(text, finish_reason, 2, made))
