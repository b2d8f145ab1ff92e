"""What a page says of a vote is what the server writes: one test, run in Node over many votes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import msgspec

from app.rooms.results import Counted, Question, results

ROOT = Path(__file__).parents[2]
LABELS = ("Streamed", "All at once")
SCRIPT = """
import { speak } from "./static/js/words.js";
import { caveatsOf, sentenceOf } from "./static/js/rooms/result_words.js";
let text = "";
for await (const piece of process.stdin) text += piece;
const { language, votes } = JSON.parse(text);
await speak(["common", "rooms"], language);
const told = votes.map(([round, found]) => [sentenceOf(round, found), caveatsOf(round, found)]);
process.stdout.write(JSON.stringify(told));
"""


def votes() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """(the round as a page knows it, the results as they are sent) of every kind of vote."""
    kinds: list[Any] = ["faster", "rather"]
    for kind, catch, first, second in product(kinds, (False, True), (0, 1, 7, 11, 20, 33), (0, 1, 7, 16)):
        ballots = [Counted("ab", "1")] * first + [Counted("ab", "2")] * second
        ballots += [Counted("ba", "same")] * (second % 3) + [Counted("ab", "1", "hidden")] * (first % 2)
        ballots += [Counted("ba", "2", "off_plan"), Counted("ba", "2", "no_report")] * (second % 2)
        touched = {"one_order": second == 7, "altered": first == 7, "early": first == 11}
        found = results(Question(LABELS, kind, catch, **touched), ballots, len(ballots) + 2)
        lanes = {lane: {"label": label} for lane, label in zip("ab", LABELS, strict=True)}
        yield {"question": kind, "catch": catch, "lanes": lanes}, msgspec.to_builtins(found)


def told(language: str) -> list[tuple[str, list[str]]]:
    asked = json.dumps({"language": language, "votes": list(votes())})
    command = ["node", "--input-type=module", "--eval", SCRIPT]
    run = subprocess.run(command, input=asked, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert run.returncode == 0, run.stderr
    return [(sentence, caveats) for sentence, caveats in json.loads(run.stdout)]


def test_the_page_says_in_english_what_the_server_writes():
    for (_, found), (sentence, caveats) in zip(votes(), told("en"), strict=True):
        # A page keeps a number and its unit on one line; a file needs no such space.
        words = [text.replace("\N{NO-BREAK SPACE}", " ") for text in (sentence, *caveats)]
        assert words == [found["sentence"], *found["caveats"]]


def test_no_percent_sign_stands_alone_on_a_page_in_any_language():
    for language in ("en", "hi"):
        for sentence, caveats in told(language):
            assert not [text for text in (sentence, *caveats) if " %" in text or " ms" in text], language


def test_in_hindi_every_number_is_there_and_no_english_sentence():
    for (_, found), (sentence, caveats) in zip(votes(), told("hi"), strict=True):
        assert "{" not in sentence + "".join(caveats) and "This class" not in sentence
        assert len(caveats) == len(found["caveats"])
        if found["decided"]:
            numbers = [str(found["decided"]), *(f"{100 * found[end]:.0f}" for end in ("low", "high"))]
            assert all(number in sentence for number in numbers)
