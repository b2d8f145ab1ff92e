"""How far a reader is, and what counts as a word."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.timeline.reading import words_brought, words_in, words_readable
from tests.golden.metrics import READING, arrivals_of
from tests.timeline.test_numbers import timelines


@pytest.mark.parametrize("case", READING, ids=lambda case: case["name"])
def test_a_reader_has_read_so_many_words(case: dict[str, Any]) -> None:
    assert words_readable(arrivals_of(case), case["now_ms"], case["words_per_minute"]) == case["expected"]


@given(timelines(), st.integers(0, 60_000), st.integers(0, 60_000), st.floats(30, 600))
def test_reading_only_goes_on_and_never_ahead_of_the_text(
    arrivals: list[Any], earlier_ms: int, by_ms: int, speed: float
) -> None:
    earlier = words_readable(arrivals, earlier_ms, speed)
    later = words_readable(arrivals, earlier_ms + by_ms, speed)
    assert 0 <= earlier <= later <= sum(a.words for a in arrivals)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("  \n ", 0),
        ("Rome is old.", 3),
        ("- one\n- two — 3", 3),
        ("it's well-known", 2),
        ("शब्द एक-एक", 2),
        ("日本語です", 3),
        ("a 水 b", 3),
    ],
)
def test_words_are_what_a_person_would_count(text: str, words: int) -> None:
    assert words_in(text) == words


@given(st.text("ab -\n水で3", max_size=40), st.lists(st.integers(0, 40), max_size=6))
def test_pieces_bring_together_the_words_of_the_text_however_it_is_cut(text: str, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(edges)]
    assert sum(words_brought(pieces)) == words_in(text)
    assert all(words >= 0 for words in words_brought(pieces))


def test_a_word_counts_where_it_begins() -> None:
    assert words_brought(["Ro", "me is", " old", ".", ""]) == [1, 1, 1, 0, 0]
