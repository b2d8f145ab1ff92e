"""Server-sent events: what the network hands over is taken for one or more whole events."""

from collections.abc import Iterable, Iterator


def events(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        for event in piece.split("\n\n"):
            if event:
                yield event.removeprefix("data: ")
