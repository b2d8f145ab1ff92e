"""A sequence's text: what is shown when, how tokens are counted, and what ends it."""

from hypothesis import given
from hypothesis import strategies as st

from app.engine.transcript import Transcript
from app.generation import TokenInfo

EOS = 9


def say(transcript: Transcript, *parts: bytes) -> list[tuple[str, int]]:
    """Take tokens until the end; the (text, tokens) of each piece."""
    pieces = []
    for part in parts:
        if transcript.finish is None:
            transcript.take(1, part)
            if (piece := transcript.piece()) is not None:
                pieces.append(piece[:2])
    return pieces


def test_tokens_without_text_are_counted_in_the_next_piece():
    transcript = Transcript(max_tokens=10)
    assert say(transcript, b"a", b"\xf0\x9f", b"\x98", b"\x80", b"b") == [("a", 1), ("😀", 3), ("b", 1)]


def test_the_last_allowed_token_ends_by_length_and_shows_what_was_held():
    transcript = Transcript(("bcd",), max_tokens=3)
    assert say(transcript, b"a", b"b", b"c") == [("a", 1), ("bc", 2)]
    assert transcript.finish == "length"
    assert transcript.num_tokens == 3


def test_an_end_of_sequence_after_all_allowed_tokens_but_one_is_stop():
    transcript = Transcript(max_tokens=2, eos_ids={EOS})
    transcript.take(1, b"a")
    transcript.take(EOS, b"")
    assert (transcript.finish, transcript.num_tokens) == ("stop", 1)


def test_a_stop_string_beats_the_length():
    transcript = Transcript(("ab",), max_tokens=2)
    assert say(transcript, b"a", b"b") == [("", 2)]
    assert (transcript.finish, transcript.matched_stop) == ("stop", "ab")


def test_a_stop_string_that_the_end_makes_complete_is_not_shown():
    transcript = Transcript(("\ufffd",), max_tokens=9, eos_ids={EOS})
    assert say(transcript, b"a", b"\xf0") == [("a", 1)]
    transcript.take(EOS, b"")
    assert (transcript.finish, transcript.matched_stop) == ("stop", "\ufffd")
    assert transcript.piece() == ("", 1, [])


def test_neither_end_nor_stop_counts_before_min_tokens():
    transcript = Transcript(("a",), max_tokens=9, min_tokens=2, eos_ids={EOS})
    transcript.take(1, b"a")
    transcript.take(EOS, b"")
    assert transcript.piece() == ("a", 2, [])
    transcript.take(1, b"xa")
    assert (transcript.finish, transcript.matched_stop) == ("stop", "a")
    assert transcript.piece() == ("x", 1, [])


def test_without_eos_ids_nothing_but_length_ends_it():
    transcript = Transcript(max_tokens=2)
    transcript.take(EOS, b"")
    transcript.take(EOS, b"")
    assert (transcript.finish, transcript.num_tokens) == ("length", 2)


def test_closing_shows_what_was_held_back():
    transcript = Transcript(("stop",), max_tokens=9)
    assert say(transcript, b"s", b"t") == []
    assert transcript.holds_text
    transcript.close("cancelled")
    assert transcript.piece() == ("st", 2, [])
    assert transcript.finish == "cancelled"


def test_infos_travel_with_the_text_of_their_tokens():
    infos = [TokenInfo(n, b"", -0.5) for n in range(3)]
    transcript = Transcript(max_tokens=9)
    transcript.take(0, b"\xc3", infos[0])
    assert transcript.piece() is None
    transcript.take(1, b"\xa9", infos[1])
    assert transcript.piece() == ("é", 2, infos[:2])
    transcript.take(2, b"x", infos[2])
    assert transcript.piece() == ("x", 1, infos[2:])


@given(
    st.lists(st.binary(max_size=3), min_size=1, max_size=12),
    st.lists(st.text(alphabet="ab\ufffd", min_size=1, max_size=3), max_size=2).map(tuple),
    st.integers(1, 12),
)
def test_pieces_add_up_to_the_text_before_the_stop_and_to_all_tokens(
    parts: list[bytes], stops: tuple[str, ...], max_tokens: int
):
    transcript = Transcript(stops, max_tokens=max_tokens)
    pieces = say(transcript, *parts)
    if transcript.finish is None:
        transcript.close("cancelled")
        if (piece := transcript.piece()) is not None:
            pieces.append(piece[:2])
    whole = b"".join(parts[:max_tokens]).decode("utf-8", errors="replace")
    text = "".join(text for text, _ in pieces)
    assert sum(tokens for _, tokens in pieces) == transcript.num_tokens
    assert whole.startswith(text)
    if transcript.matched_stop is None:
        assert text == whole
    else:
        assert whole.startswith(text + transcript.matched_stop)
    assert all(text for text, _ in pieces[:-1])


def infos_of(transcript: Transcript, *parts: bytes) -> tuple[str, list[bytes]]:
    """The text told and the bytes of the tokens told with it, piece by piece put together."""
    text, told = "", []
    for part in parts:
        if transcript.finish is None:
            transcript.take(1, part, TokenInfo(1, part, -0.5))
            if (piece := transcript.piece()) is not None:
                text += piece[0]
                told += [info.data for info in piece[2]]
    return text, told


def test_no_token_of_a_stop_string_is_told():
    assert infos_of(Transcript(("cd",), max_tokens=9), b"ab", b"c", b"d") == ("ab", [b"ab"])


def test_a_token_that_a_stop_string_cuts_is_told_since_some_of_it_is_shown():
    assert infos_of(Transcript(("cd",), max_tokens=9), b"a", b"bc", b"d") == ("ab", [b"a", b"bc"])


def test_a_token_that_looked_like_a_stop_string_is_told_when_it_is_shown():
    assert infos_of(Transcript(("cd",), max_tokens=9), b"ab", b"c", b"e") == ("abce", [b"ab", b"c", b"e"])


@given(
    st.lists(st.sampled_from(["a", "b", "ab", "é", "€c", "cab"]).map(str.encode), min_size=1, max_size=12),
    st.lists(st.text(alphabet="abcé", min_size=1, max_size=4), max_size=2).map(tuple),
    st.integers(1, 12),
)
def test_the_tokens_told_spell_the_text_told(parts: list[bytes], stops: tuple[str, ...], max_tokens: int):
    transcript = Transcript(stops, max_tokens=max_tokens)
    text, told = infos_of(transcript, *parts)
    if transcript.finish is None:
        transcript.close("cancelled")
        if (piece := transcript.piece()) is not None:
            text, told = text + piece[0], told + [info.data for info in piece[2]]
    spelt = b"".join(told).decode()
    if transcript.matched_stop is None:
        assert spelt == text
    else:
        # The last one may go on into the stop string, but begins in what was shown.
        assert spelt.startswith(text)
        assert not told or len(b"".join(told[:-1]).decode()) < len(text)
