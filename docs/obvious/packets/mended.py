"""Server-sent events: an event ends at a blank line, wherever the pieces end."""

from collections.abc import Iterable, Iterator


def events(pieces: Iterable[str]) -> Iterator[str]:
    rest = ""
    for piece in pieces:
        *whole, rest = (rest + piece).split("\n\n")
        for event in whole:
            yield event.removeprefix("data: ")
