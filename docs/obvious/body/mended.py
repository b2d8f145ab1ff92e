"""A client that shows what comes, as soon as a word of it is whole."""

from collections.abc import Iterable, Iterator


def shown(body: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for piece in body:
        *words, rest = (rest + piece).split(b" ")
        yield from (word.decode() for word in words)
    yield rest.decode()
