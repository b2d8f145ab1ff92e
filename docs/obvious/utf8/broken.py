"""Text as it comes: each piece of bytes is decoded by itself."""

from collections.abc import Iterable, Iterator


def texts(pieces: Iterable[bytes]) -> Iterator[str]:
    for piece in pieces:
        yield piece.decode(errors="replace")
