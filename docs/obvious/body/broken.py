"""A client that shows what comes. It reads the body first, as for any other answer."""

from collections.abc import Iterable, Iterator


def shown(body: Iterable[bytes]) -> Iterator[str]:
    text = b"".join(body).decode()
    yield from text.split(" ")
