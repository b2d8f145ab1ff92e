"""The first word is shown before the server has made the last."""

from collections.abc import Iterator
from types import ModuleType


def check(streamer: ModuleType) -> None:
    made = []

    def body() -> Iterator[bytes]:
        for piece in (b"one t", b"wo thr", b"ee four"):
            made.append(piece)
            yield piece

    words = streamer.shown(body())
    assert next(words) == "one"
    assert len(made) == 1, "the whole body was read before anything was shown"
    assert list(words) == ["two", "three", "four"]
