"""What counts as a word."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.timeline.reading import words_brought, words_in


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
