"""Stop strings are found across any cuts, and nothing of them is ever shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.stops import StopScanner

TEXT = st.text(alphabet="abc", max_size=20)
STOPS = st.lists(st.text(alphabet="abc", min_size=1, max_size=4), max_size=3).map(tuple)


def until_stop(text: str, stops: tuple[str, ...]) -> tuple[str, str | None]:
    """The oracle: grow the text by one character until it ends with a stop string."""
    for end in range(1, len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            longest = max(found, key=len)
            return text[: end - len(longest)], longest
    return text, None


@given(TEXT, STOPS, st.lists(st.integers(0, 20)))
def test_any_cuts_show_the_text_before_the_first_stop(text: str, stops: tuple[str, ...], cuts: list[int]):
    scanner = StopScanner(stops)
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    shown = ""
    for a, b in zip(places, places[1:], strict=False):
        if scanner.matched is None:
            shown += scanner.push(text[a:b])
    if scanner.matched is None:
        shown += scanner.flush()
    assert (shown, scanner.matched) == until_stop(text, stops)


@given(TEXT, STOPS)
def test_only_a_tail_that_may_become_a_stop_is_held_back(text: str, stops: tuple[str, ...]):
    scanner = StopScanner(stops)
    shown = scanner.push(text)
    if scanner.matched is None:
        tail = text[len(shown) :]
        assert text == shown + tail
        assert tail == "" or any(stop.startswith(tail) and stop != tail for stop in stops)
        assert scanner.holds_text == bool(tail)


def test_a_stop_in_pieces_is_never_shown_and_a_false_start_is():
    scanner = StopScanner(("DEFGHIJ",))
    assert [scanner.push(part) for part in ("DEF", "G", "HI", "J")] == ["", "", "", ""]
    assert scanner.matched == "DEFGHIJ"
    scanner = StopScanner(("DEFGHIJ",))
    assert [scanner.push(part) for part in ("DEF", "G", "X")] == ["", "", "DEFGX"]


def test_the_stop_that_is_complete_first_wins():
    scanner = StopScanner(("abcd", "bc"))
    assert scanner.push("xabcd") == "xa"
    assert scanner.matched == "bc"


def test_nothing_may_follow_a_match():
    scanner = StopScanner(("a",))
    scanner.push("a")
    with pytest.raises(AssertionError, match="nothing follows"):
        scanner.push("b")
