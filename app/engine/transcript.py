"""The text of one sequence as it grows: tokens in, pieces that may be shown out, and its end.

Every token passes detokenizer and stop strings here, and here it is decided that the text is
over: a stop string beats the end-of-sequence token, which beats the length. Stop strings are not
looked for before ``min_tokens`` tokens. The end-of-sequence token that ends a text is no part of
it and is not counted. A token's info is told with the first of its text; of tokens whose text is
never shown, those of a stop string, none is. This module refuses to know memory, steps and clocks.
"""

from __future__ import annotations

from collections.abc import Set

from app.engine.detokenizer import Detokenizer
from app.generation import FinishReason, TokenInfo
from app.stops import StopScanner


class Transcript:
    """What one sequence has said.

    ``eos_ids`` empty: no token ends it. ``max_tokens`` counts the tokens of the text.
    """

    def __init__(
        self,
        stop: tuple[str, ...] = (),
        *,
        max_tokens: int,
        min_tokens: int = 0,
        eos_ids: Set[int] = frozenset(),
    ) -> None:
        assert max_tokens >= 1
        self._detokenizer = Detokenizer()
        self._stops = StopScanner(stop)
        self._eos_ids = eos_ids
        self.max_tokens = max_tokens
        self.min_tokens = min_tokens
        #: Tokens of the text so far, shown or held back.
        self.num_tokens = 0
        self.finish: FinishReason | None = None
        self._text = ""
        self._untold_tokens = 0
        #: (where in the text the token begins, its info); characters are counted as made, and as shown.
        self._untold_info: list[tuple[int, TokenInfo]] = []
        self._num_made = 0
        self._num_shown = 0

    @property
    def matched_stop(self) -> str | None:
        """The stop string that ended the text."""
        return self._stops.matched

    @property
    def holds_text(self) -> bool:
        """Whether made text is held back because the next token decides about it."""
        return self._stops.holds_text or self._detokenizer.holds_bytes

    def take(self, token_id: int, data: bytes, info: TokenInfo | None = None) -> None:
        """Append one token. ``finish`` tells afterwards whether it was the last."""
        assert self.finish is None, "nothing follows the end"
        if token_id in self._eos_ids and self.num_tokens >= self.min_tokens:
            self.close("stop")
            return
        self.num_tokens += 1
        self._untold_tokens += 1
        if info is not None:
            self._untold_info.append((self._num_made, info))
        self._show(self._detokenizer.push(data))
        if self.matched_stop is not None:
            self.finish = "stop"
        elif self.num_tokens >= self.max_tokens:
            self.close("length")

    def close(self, reason: FinishReason) -> None:
        """End the text: what was held back is shown, unless it completes a stop string."""
        self._show(self._detokenizer.flush())
        if self.matched_stop is not None:
            self.finish = "stop"
            return
        self._append(self._stops.flush())
        self.finish = reason

    def piece(self) -> tuple[str, int, list[TokenInfo]] | None:
        """New text, how many tokens were made since the last piece, and their infos.

        None while there is no text to show; tokens without text are counted in the next piece.
        After the end the last tokens are told even if no text came of them, so that the pieces'
        counts always add up to ``num_tokens``.
        """
        if not self._text and not (self.finish is not None and self._untold_tokens):
            return None
        told = (self._text, self._untold_tokens, self._take_info())
        self._text, self._untold_tokens = "", 0
        return told

    # Private

    def _show(self, text: str) -> None:
        self._num_made += len(text)
        if self.num_tokens >= self.min_tokens:
            text = self._stops.push(text)
        self._append(text)

    def _append(self, text: str) -> None:
        self._text += text
        self._num_shown += len(text)

    def _take_info(self) -> list[TokenInfo]:
        """The infos of all tokens whose text has begun to be shown; at a natural end of all."""
        natural = self.finish is not None and self.matched_stop is None
        num_told = sum(natural or begin < self._num_shown for begin, _ in self._untold_info)
        told = [info for _, info in self._untold_info[:num_told]]
        del self._untold_info[:num_told]
        return told
