"""One reply of the scripted engine as it is said: its text, its grant, its stamps. Pure.

It knows which token of the script comes next and how long that takes, when its text is over, and
what there is to tell of each change. Times are passed in. It refuses to know the line, the batch and
timers, and calls no sink itself.
"""

from __future__ import annotations

from app.engine.script import Script
from app.engine.transcript import Transcript
from app.generation import Begun, Ended, FinishReason, Paused, Piece, Resumed, Sink, TokenInfo
from app.prompt import Prompt


def count_words(prompt: Prompt) -> int:
    """How many tokens a prompt has for this engine: one a word, and at least one."""
    words = len(prompt.text.split()) if prompt.text is not None else 0
    return max(1, words + sum(len(message.content.split()) for message in prompt.messages))


class Saying:
    """``script`` goes round: after its last token comes its first, for whoever is not to end."""

    def __init__(
        self, prompt: Prompt, sink: Sink, script: Script, context_tokens: int, granted: int | None
    ) -> None:
        self.id = prompt.id
        self.prompt = prompt
        self.sink = sink
        self.prompt_tokens = count_words(prompt)
        #: Tokens it may make before it pauses; None: no limit.
        self.granted = granted
        #: What it was last told of its place in line; None: it has not come to the line yet.
        self.told_position: int | None = None
        self._script = script
        room = context_tokens - self.prompt_tokens
        self._transcript = Transcript(
            prompt.stop, max_tokens=max(1, min(prompt.max_tokens, room)), min_tokens=prompt.min_tokens
        )
        self._begun_ns: int | None = None
        self._first_token_ns: int | None = None
        self._last_token_ns: int | None = None
        self._paused_since_ns: int | None = None
        self._paused_ns = 0

    @property
    def num_made(self) -> int:
        """Tokens made so far, told or held back."""
        return self._transcript.num_tokens

    @property
    def num_held(self) -> int:
        """Tokens whose keys and values a model would hold by now: none before it has begun."""
        return self.prompt_tokens + self.num_made if self._begun_ns else 0

    @property
    def paused(self) -> bool:
        return self._paused_since_ns is not None

    @property
    def may_go_on(self) -> bool:
        """As in the local engine: text held back does not count, and the first token is free."""
        return self.granted is None or self.num_made < max(self.granted, 1) or self._transcript.holds_text

    @property
    def finish(self) -> FinishReason | None:
        """Why its text is over; None while it is not."""
        return self._transcript.finish

    def delay_s(self) -> float:
        """How long its next token takes: what the script says, and longer in slow motion."""
        _, delay_ms = self._script[self.num_made % len(self._script)]
        slowest = self.prompt.tokens_per_second
        return max(delay_ms / 1000, 1 / slowest if slowest else 0.0)

    def begin(self, now_ns: int) -> Begun:
        """It comes into the batch for the first time."""
        self._begun_ns = now_ns
        return Begun(self.id, self.prompt_tokens, 0, now_ns)

    def make(self, now_ns: int) -> None:
        """Make the next token; ``finish`` tells afterwards whether it was the last."""
        transcript = self._transcript
        index = transcript.num_tokens % len(self._script)
        data, _ = self._script[index]
        top = self.prompt.sampling.logprobs
        # A script is certain of itself: probability one, and no alternatives.
        info = None if top is None else TokenInfo(index, data, 0.0, [(index, data, 0.0)][:top])
        transcript.take(index, data, info)
        self._last_token_ns = now_ns
        if self._first_token_ns is None:
            self._first_token_ns = now_ns
        said_all = transcript.num_tokens % len(self._script) == 0 and not self.prompt.ignore_eos
        if transcript.finish is None and said_all and transcript.num_tokens >= transcript.min_tokens:
            transcript.close("stop")

    def piece(self) -> Piece | None:
        """The text that is new, or None when there is none to show."""
        if (told := self._transcript.piece()) is None:
            return None
        assert self._last_token_ns is not None, "text comes of tokens"
        text, tokens, info = told
        return Piece(self.id, text, tokens, self._last_token_ns, info)

    def pause(self, now_ns: int) -> Paused:
        """It leaves the batch until it is granted more."""
        self._paused_since_ns = now_ns
        return Paused(self.id, now_ns, self.num_made)

    def resume(self, now_ns: int) -> Resumed:
        """It is back in the batch."""
        self._count_pause(now_ns)
        return Resumed(self.id, now_ns)

    def end(self, reason: FinishReason, now_ns: int) -> list[Piece | Ended]:
        """What is told at the end: the text that was held back, if any, and the end.

        ``reason`` counts for a text that is not over by itself.
        """
        transcript = self._transcript
        if transcript.finish is None:
            transcript.close(reason)
        self._count_pause(now_ns)
        piece = self.piece()
        ended = Ended(
            self.id,
            transcript.finish or reason,
            self.prompt_tokens,
            transcript.num_tokens,
            now_ns,
            begun_ns=self._begun_ns,
            first_token_ns=self._first_token_ns,
            last_token_ns=self._last_token_ns,
            paused_ns=self._paused_ns,
            stop=transcript.matched_stop,
        )
        return [ended] if piece is None else [piece, ended]

    # Private

    def _count_pause(self, now_ns: int) -> None:
        if self._paused_since_ns is not None:
            self._paused_ns += now_ns - self._paused_since_ns
            self._paused_since_ns = None
