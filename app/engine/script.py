"""Scripts of the scripted engine: what it says, token by token, and how long each token takes.

A script is a sequence of (bytes, delay in milliseconds). Its file is a JSON list of
[text, delay] or [{"hex": "e0a4"}, delay]; bytes, because a token may end inside a character.
This module refuses to know who plays it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from app.errors import StartupError

#: (the token's bytes, milliseconds it takes to make)
ScriptToken = tuple[bytes, float]
Script = Sequence[ScriptToken]

_MAX_FILE_BYTES = 16 * 1024 * 1024
_MAX_DELAY_MS = 60_000.0


def load_script(path: str | Path) -> list[ScriptToken]:
    """The script in a file. Raises StartupError with one line that names the file and the entry."""
    path = Path(path)
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise StartupError(f"the script {path} is larger than {_MAX_FILE_BYTES} bytes")
        entries = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise StartupError(f"the script {path} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise StartupError(f"the script {path} is not JSON: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise StartupError(f"the script {path} must be a list of [text, delay in ms], not empty")
    return [_entry(path, number, entry) for number, entry in enumerate(entries)]


def spoken(text: str, delay_ms: float) -> list[ScriptToken]:
    """A script that says ``text`` word by word, each taking ``delay_ms``.

    Words outside ASCII come in pieces of four bytes, so that characters are cut in two as a real
    byte-level vocabulary cuts them.
    """
    tokens: list[ScriptToken] = []
    for word in re.findall(r"\s*\S+|\s+", text):
        data = word.encode()
        size = len(data) if word.isascii() else 4
        tokens += [(data[at : at + size], delay_ms) for at in range(0, len(data), size)]
    return tokens


# Private


def _entry(path: Path, number: int, entry: Any) -> ScriptToken:
    where = f"the script {path}, entry {number}"
    if not isinstance(entry, list) or len(entry) != 2:
        raise StartupError(f"{where}: must be [text, delay in ms]")
    said, delay_ms = entry
    if isinstance(delay_ms, bool) or not isinstance(delay_ms, int | float):
        raise StartupError(f"{where}: the delay must be a number of milliseconds")
    if not 0 <= delay_ms <= _MAX_DELAY_MS:
        raise StartupError(f"{where}: the delay is {delay_ms}; it must be from 0 to {_MAX_DELAY_MS:g} ms")
    if isinstance(said, str):
        return said.encode(), float(delay_ms)
    if isinstance(said, dict) and isinstance(digits := said.get("hex"), str) and len(said) == 1:
        try:
            return bytes.fromhex(digits), float(delay_ms)
        except ValueError:
            raise StartupError(f"{where}: {digits!r} is not hexadecimal") from None
    raise StartupError(f'{where}: must begin with a text or with {{"hex": "…"}}')


_TEXT = """\
A kettle does not wait until all of its water is steam before it lets you see some. A language \
model is much the same: it finds its answer one small piece at a time, each piece chosen after \
looking at everything said so far. Whoever serves it can show you the pieces as they are found, \
or keep them in a drawer until the last one is there. The work is equal either way, and so is \
the moment at which it ends. Only the waiting feels different. 🫖

Reading is slower than most people think. At an easy pace you take in about four words a second, \
so a machine that writes eight is already ahead of you, and you never notice how far it still \
has to go. What you do notice is silence. Two seconds with nothing on the page are long; twenty \
seconds with something to read are short.

शब्द एक-एक करके आते हैं, और पढ़ने वाला पहले शब्द से ही पढ़ना शुरू कर देता है। Every alphabet gets the same \
treatment: a letter may need several bytes, a piece may end in the middle of one, and it is the \
server's duty never to show half a letter.

In code the whole idea fits in three lines:

```python
for piece in model.answer(question):
    page.write(piece)      # show it now
    reader.smile()
```

Take the loop away, collect the pieces in a list and write them once, and nothing about the \
model has changed. The reader, though, has put the kettle on.
"""

#: What is said when no file is given: a third of a second to the first word, then 20 words a
#: second, which is about the pace of a small model on a laptop.
DEFAULT_SCRIPT: Script = tuple(
    (data, 300.0 if number == 0 else 50.0) for number, (data, _) in enumerate(spoken(_TEXT, 50.0))
)
