"""Characters are shown whole, whatever the cuts, and broken bytes as soon as they are broken."""

from hypothesis import given
from hypothesis import strategies as st

from app.engine.detokenizer import Detokenizer

BYTES = st.one_of(st.binary(max_size=24), st.text(max_size=12).map(str.encode))


def splits(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[a:b] for a, b in zip(places, places[1:], strict=False)]


@given(BYTES, st.lists(st.integers(0, 100)))
def test_any_cuts_give_the_text_of_the_whole(data: bytes, cuts: list[int]):
    detokenizer = Detokenizer()
    shown = "".join(detokenizer.push(part) for part in splits(data, cuts))
    assert shown + detokenizer.flush() == data.decode("utf-8", errors="replace")
    assert not detokenizer.holds_bytes


@given(st.text(max_size=12))
def test_sound_text_byte_by_byte_never_shows_a_replacement_of_its_own(text: str):
    detokenizer = Detokenizer()
    shown = [detokenizer.push(bytes([byte])) for byte in text.encode()]
    assert "".join(shown) == text
    assert detokenizer.flush() == ""


def test_half_an_emoji_waits_and_plain_text_does_not():
    detokenizer = Detokenizer()
    assert detokenizer.push(b"hi \xf0\x9f") == "hi "
    assert detokenizer.holds_bytes
    assert detokenizer.push(b"\x98\x80!") == "😀!"
    assert not detokenizer.holds_bytes


def test_bytes_that_cannot_become_a_character_are_shown_at_once():
    assert Detokenizer().push(b"a\xffb") == "a\ufffdb"
    assert Detokenizer().push(b"\xe0\x80") == "\ufffd\ufffd"


def test_an_unfinished_character_is_told_by_flush():
    detokenizer = Detokenizer()
    detokenizer.push(b"\xe0\xa4")
    assert detokenizer.flush() == "\ufffd"
