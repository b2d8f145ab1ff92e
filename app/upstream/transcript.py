"""What is known of one answer so far: its tokens, times, usage and ending. No I/O.

Chunks go in, text that may be shown comes out. Tokens are counted by the running usage where the
server sends one (vLLM, SGLang), else by logprob entries, else one for each text delta; the final
usage corrects the total. It refuses to know the wire, and when a piece may be given.
"""

from __future__ import annotations

from app.errors import FirstwordError, UpstreamFailed
from app.generation import Ended, FinishReason, Piece, TokenInfo
from app.prompt import Prompt
from app.stops import StopScanner
from app.upstream.chunk import Chunk, Usage
from app.upstream.refusal import in_stream

#: No token is longer in any vocabulary we know of: an upstream that ignores max_tokens ends here.
MAX_CHARS_A_TOKEN = 256
#: Endings after which the text must not look finished.
_BAD_ENDINGS = frozenset({"abort", "error", "content_filter"})


class Transcript:
    """One answer's account. At most one of ``finish`` and ``failure`` is set, once it is over."""

    def __init__(self, prompt: Prompt) -> None:
        self.finish: FinishReason | None = None
        self.failure: FirstwordError | None = None
        self._prompt = prompt
        # TGI and transformers serve send the stop string itself.
        self._scanner = StopScanner(prompt.stop)
        self._stop: str | None = None
        self._chars = 0
        # Counted, and of these not yet in a piece
        self._tokens = 0
        self._tokens_pending = 0
        #: With where in the text each begins: what a stop string cuts off is not told.
        self._info_pending: list[tuple[int, TokenInfo]] = []
        self._chars_shown = 0
        self._usage = Usage()
        # Arrival of the first and of the last text
        self._first_ns: int | None = None
        self._last_ns: int | None = None

    @property
    def stopped_here(self) -> bool:
        """The scanner found a stop string: whatever the upstream still sends is not wanted."""
        return self._scanner.matched is not None

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
            shown += self._scanner.flush()
            self.finish = "length" if chunk.finish == "length" else "stop"
            self._stop = chunk.stop
        return shown

    def piece(self, text: str, at_ns: int) -> Piece:
        """``text`` with all tokens that no piece carried so far, and the infos of those in the text."""
        tokens, self._tokens_pending = self._tokens_pending, 0
        self._chars_shown += len(text)
        info = [info for begin, info in self._info_pending if begin < self._chars_shown]
        del self._info_pending[: len(info)]
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
        begin = self._chars
        for info in chunk.info:
            self._info_pending.append((begin, info))
            begin += sum(byte & 0xC0 != 0x80 for byte in info.data)

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
        shown = self._scanner.push(text)
        if self._scanner.matched is not None:
            self.finish, self._stop = "stop", self._scanner.matched
        return shown
