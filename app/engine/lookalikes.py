"""Text of users that looks like a control token: cut, so that it stays text. Pure.

A tokenizer makes ``<|im_end|>`` one control token wherever it meets it, and who writes that into a
message could end their turn and forge the system's. So before the template is filled in, every
control token that is spelt out in a message gets a mark behind its first character; afterwards
the text is taken apart at the marks and each part is encoded alone: no part holds a whole control
token but those that the template has put there. Whatever the template does to a message in between
(trim it, take it apart), the marks stay in their places. It refuses to know templates and ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from app.prompt import Message

#: Unicode keeps it for programs' own use: no text needs it, no template touches it.
_MARK = "\ufdd0"
_MARKS = re.compile(_MARK + "+")


class Lookalikes:
    """Knows the ``control_tokens`` of one tokenizer by their spelling."""

    def __init__(self, control_tokens: Iterable[str]) -> None:
        # One character cannot be cut; no vocabulary we know has such a control token.
        self._tokens = tuple(sorted({token for token in control_tokens if len(token) > 1}))
        # Looking ahead finds also those that begin inside another.
        spelt = "|".join(map(re.escape, self._tokens))
        self._beginning = re.compile(f"(?=(?:{spelt}))(.)", re.DOTALL) if spelt else None

    def mark(self, messages: Sequence[Message]) -> tuple[Sequence[Message], str | None]:
        """The messages with marks in them, and the mark; None when there was nothing to mark."""
        suspects = [any(token in message.content for token in self._tokens) for message in messages]
        if self._beginning is None or not any(suspects):
            return messages, None
        # Longer than any run of marks that somebody has written, and so none of theirs.
        runs = (len(run) for message in messages for run in _MARKS.findall(message.content))
        mark = _MARK * (max(runs, default=0) + 1)
        marked = [
            msgspec.structs.replace(message, content=self._beginning.sub(rf"\1{mark}", message.content))
            if suspect
            else message
            for message, suspect in zip(messages, suspects, strict=True)
        ]
        return marked, mark
