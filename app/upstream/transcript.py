"""What is known of one answer so far: its tokens, times, usage and ending. No I/O.

Chunks go in, text that may be shown comes out. Tokens are counted by the running usage where the
server sends one (vLLM, SGLang), else by logprob entries, else one for each text delta; the final
usage corrects the total. It refuses to know the wire, and when a piece may be given.
"""

from __future__ import annotations

from typing import Protocol

from app.errors import FirstwordError, UpstreamFailed
from app.generation import Ended, FinishReason, Piece, TokenInfo
from app.prompt import Prompt
from app.upstream.chunk import Chunk, Usage
from app.upstream.refusal import in_stream

#: No token is longer in any vocabulary we know of: an upstream that ignores max_tokens ends here.
MAX_CHARS_A_TOKEN = 256
#: Endings after which the text must not look finished.
_BAD_ENDINGS = frozenset({"abort", "error", "content_filter"})


class StopScanner(Protocol):
    """Cuts text at a stop string: TGI and transformers serve send the stop string itself."""

    @property
    def matched(self) -> str | None: ...
    def push(self, text: str) -> str: ...
    def flush(self) -> str: ...


class Transcript:
    """One answer's account. At most one of ``finish`` and ``failure`` is set, once it is over."""

    def __init__(self, prompt: Prompt, scanner: StopScanner | None) -> None:
        self.finish: FinishReason | None = None
        self.failure: FirstwordError | None = None
        self._prompt = prompt
        self._scanner = scanner
        self._stop: str | None = None
        self._chars = 0
        # Counted, and of these not yet in a piece
        self._tokens = 0
        self._tokens_pending = 0
        self._info_pending: list[TokenInfo] = []
        self._usage = Usage()
        # Arrival of the first and of the last text
        self._first_ns: int | None = None
        self._last_ns: int | None = None

    @property
    def stopped_here(self) -> bool:
        """The scanner found a stop string: whatever the upstream still sends is not wanted."""
        return self._scanner is not None and self._scanner.matched is not None

    def take(self, chunk: Chunk, at_ns: int) -> str:
        """Note what came ``at_ns``; returns the text that may be shown for it, often none."""
        self._count(chunk)
        if self.finish is not None:
            return ""  # Only the usage is still of interest.
        shown = self._text(chunk.text, at_ns) if chunk.text else ""
        if chunk.error:
            self.failure = in_stream(chunk.error)
        elif chunk.finish in _BAD_ENDINGS:
            self.failure = UpstreamFailed(f"the upstream broke the answer off: {chunk.finish}")
        elif chunk.finish and self.finish is None:
            shown += self._scanner.flush() if self._scanner is not None else ""
            self.finish = "length" if chunk.finish == "length" else "stop"
            self._stop = chunk.stop
        return shown

    def piece(self, text: str, at_ns: int) -> Piece:
        """``text`` with all tokens that no piece carried so far."""
        tokens, self._tokens_pending = self._tokens_pending, 0
        info, self._info_pending = self._info_pending, []
        return Piece(self._prompt.id, text, tokens, at_ns, info)

    def ended(self, reason: FinishReason, now_ns: int, begun_ns: int | None, paused_ns: int) -> Ended:
        """The last output; without the server's usage its prompt tokens stay 0: nobody told them."""
        return Ended(
            self._prompt.id,
            reason,
            self._usage.prompt_tokens,
            self._usage.completion_tokens or self._tokens,
            now_ns,
            cached_tokens=self._usage.cached_tokens,
            begun_ns=begun_ns,
            first_token_ns=self._first_ns,
            last_token_ns=self._last_ns,
            paused_ns=paused_ns,
            stop=self._stop,
        )

    # Private

    def _count(self, chunk: Chunk) -> None:
        running = chunk.usage.completion_tokens if chunk.usage is not None else 0
        new = running - self._tokens if running else len(chunk.info) or int(bool(chunk.text))
        self._usage = chunk.usage or self._usage
        self._tokens += max(new, 0)
        self._tokens_pending += max(new, 0)
        self._info_pending += chunk.info

    def _text(self, text: str, at_ns: int) -> str:
        self._first_ns = at_ns if self._first_ns is None else self._first_ns
        self._last_ns = at_ns
        self._chars += len(text)
        most = self._prompt.max_tokens * MAX_CHARS_A_TOKEN
        if self._chars > most:
            self.failure = UpstreamFailed(
                f"the upstream sent more than {most} characters for {self._prompt.max_tokens} tokens"
            )
            return ""
        if self._scanner is None:
            return text
        shown = self._scanner.push(text)
        if self._scanner.matched is not None:
            self.finish, self._stop = "stop", self._scanner.matched
        return shown
