"""Two things that arrive in pieces: characters and events. Run it: python docs/code/pieces.py"""

import codecs
from collections.abc import Iterable, Iterator


# [utf8]
def text_of(pieces: Iterable[bytes]) -> Iterator[str]:
    """Whole characters only: what is cut in the middle waits for its other half."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for piece in pieces:
        if text := decoder.decode(piece):
            yield text
    if rest := decoder.decode(b"", final=True):
        yield rest


# [/utf8]


# [sse]
def events_of(pieces: Iterable[str]) -> Iterator[str]:
    """The data of server-sent events, however the network has cut them (lines end with \\n here)."""
    rest, data = "", []
    for piece in pieces:
        *lines, rest = (rest + piece).split("\n")
        for line in lines:
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif line == "" and data:  # only the empty line ends an event
                yield "\n".join(data)
                data = []


# [/sse]

if __name__ == "__main__":
    whole = "नमस्ते 🙂".encode()
    print("".join(text_of(whole[i : i + 1] for i in range(len(whole)))))
    print(list(events_of(["da", "ta: Hel", "lo\n", "\nda", "ta: world\n\n"])))
