"""One answer, every wire, one text: equal to the byte, with the same end and the same usage."""

import asyncio
import random

import pytest

from app.engine.scripted import ScriptedEngine
from app.reply.pace import PACES
from tests.contract.wires import LESSON_WIRES, WIRES, Answer, Asked, Wire
from tests.server import run_server

TEXTS = {
    "prose": "It rains. Does it? It does! Well…\n\nSo be it.",
    "emoji families": "Family: 👩‍👩‍👧‍👦, flag 🏳️‍🌈, hand 👍🏽.",
    "devanagari": "शब्द एक-एक करके आते हैं। और पढ़ने वाला?",
    "cjk": "漢字とかな。これは文です！한국어 문장.",
    "arabic": "النص العربي يُقرأ من اليمين؟ نعم.",
    "thai": "ภาษาไทยไม่มีช่องว่าง",
    "code": '```python\nif x < 1 and y > "2":\r\n\tprint("\\n\\u2028")\n```\n',
    "odd lines": "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\x00h\ufeffi",
    "one token": "x",
    "spaces": "  \n \t ",
    "long word": "-" * 200,
    "frames": "data: [DONE]\n\nevent: x\nid: 7\n\n: ping\n\n0\r\n\r\n",
}


def cut(data: bytes, seed: int) -> list[tuple[bytes, float]]:
    """Tokens of one to four bytes: most characters are cut in the middle somewhere."""
    chance, tokens = random.Random(seed), []
    while data:
        size = chance.randint(1, 4)
        tokens.append((data[:size], 0.0))
        data = data[size:]
    return tokens


async def ask_all(engine: ScriptedEngine, wires: dict[str, Wire], asked: Asked) -> dict[str, Answer]:
    async with run_server(engine, max_stop_chars=500) as s:
        answers = await asyncio.gather(*(wire(s, asked) for wire in wires.values()))
    return dict(zip(wires, answers, strict=True))


def check(answers: dict[str, Answer], text: str, finish_reason: str, tokens: int) -> None:
    for name, answer in answers.items():
        assert answer.text.encode() == text.encode(), name
        assert answer.finish_reason in (None, finish_reason), name
        assert answer.completion_tokens in (None, tokens), name
        assert answer.prompt_tokens in (None, 1), name


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("name", TEXTS)
async def test_every_wire_and_pace_gives_the_same_text(name, pace):
    script = cut(TEXTS[name].encode(), 3)
    answers = await ask_all(ScriptedEngine(script), WIRES | LESSON_WIRES, Asked(pace))
    check(answers, TEXTS[name], "stop", len(script))
    if pace == "whole":
        assert {a.pieces for a in answers.values() if a.pieces is not None} == {1}


@pytest.mark.parametrize("pace", PACES)
async def test_an_end_inside_a_character_is_the_same_everywhere(pace):
    script = [(b"caf", 0.0), (b"\xc3", 0.0), (b"\xa9 \xf0\x9f", 0.0)]
    answers = await ask_all(ScriptedEngine(script), WIRES | LESSON_WIRES, Asked(pace))
    check(answers, "café \ufffd", "stop", 3)


@pytest.mark.parametrize("pace", PACES)
async def test_the_limit_of_tokens_is_the_same_everywhere(pace):
    script = cut(TEXTS["prose"].encode(), 5)
    text = b"".join(data for data, _ in script[:7]).decode()
    answers = await ask_all(ScriptedEngine(script), WIRES | LESSON_WIRES, Asked(pace, max_tokens=7))
    check(answers, text, "length", 7)


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize(
    ("stop", "text"),
    [
        (("Does it",), "It rains. "),
        (("does! W", "never"), "It rains. Does it? It "),
        (("It",), ""),
        (("be it.",), "It rains. Does it? It does! Well…\n\nSo "),
        (("…\n\n", "Well…\n\nSo"), "It rains. Does it? It does! Well"),
    ],
)
async def test_stop_strings_across_tokens_are_the_same_everywhere_and_never_shown(stop, text, pace):
    script = cut(TEXTS["prose"].encode(), 7)
    answers = await ask_all(ScriptedEngine(script), WIRES, Asked(pace, stop))
    check(answers, text, "stop", next(iter(answers.values())).completion_tokens or 0)
