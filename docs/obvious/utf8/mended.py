"""Text as it comes: half a character waits for its other half."""

import codecs
from collections.abc import Iterable, Iterator


def texts(pieces: Iterable[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for piece in pieces:
        yield decoder.decode(piece)
    yield decoder.decode(b"", final=True)
