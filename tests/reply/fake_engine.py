"""Engines for the tests of replies: one that says what the test tells it to, one that obeys grants."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from app.errors import EngineLoading
from app.generation import (
    Begun,
    Ended,
    EngineStatus,
    FinishReason,
    ModelInfo,
    Output,
    Paused,
    Piece,
    Resumed,
    Sink,
    StepRecord,
    Waiting,
)
from app.prompt import Prompt


class FakeEngine:
    """Records what it is asked and makes nothing by itself; its clock is the test's."""

    def __init__(self) -> None:
        self.prompts: dict[str, Prompt] = {}
        self.sinks: dict[str, Sink] = {}
        self.cancelled: list[str] = []
        self.grants: list[tuple[str, int]] = []
        self.now_ns = 0
        self.ready = True

    @property
    def status(self) -> EngineStatus:
        return EngineStatus("ready" if self.ready else "loading")

    @property
    def model(self) -> ModelInfo:
        return ModelInfo("fake")

    async def start(self) -> None:
        self.ready = True

    async def stop(self) -> None:
        self.ready = False

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        if not self.ready:
            raise EngineLoading("The model is not loaded yet.")
        self.prompts[prompt.id] = prompt
        self.sinks[prompt.id] = sink

    def cancel(self, id: str) -> None:
        self.cancelled.append(id)

    def grant(self, id: str, tokens: int) -> None:
        self.grants.append((id, tokens))

    async def count_tokens(self, prompt: Prompt) -> int:
        return 1

    def watch_steps(self, sink: Callable[[StepRecord], None]) -> Callable[[], None]:
        return lambda: None

    # What the test makes it say

    def clock(self) -> int:
        return self.now_ns

    def tell(self, output: Output) -> None:
        self.sinks[output.id](output)

    def begin(self, id: str) -> None:
        self.tell(Waiting(id, 0, self.now_ns))
        self.tell(Begun(id, 3, 1, self.now_ns))

    def say(self, id: str, *texts: str, tokens: int = 1) -> None:
        for text in texts:
            self.tell(Piece(id, text, tokens, self.now_ns))

    def finish(self, id: str, reason: FinishReason = "stop", tokens: int = 0) -> None:
        self.tell(Ended(id, reason, 3, tokens, self.now_ns, cached_tokens=1))


class ObedientEngine(FakeEngine):
    """One sequence in another process: it obeys its grant, and messages take time both ways.

    ``step`` works on what it has heard; ``deliver`` brings its oldest words home.
    """

    def __init__(self, id: str, limit: int) -> None:
        super().__init__()
        self.id = id
        self.limit = limit
        self.made = 0
        self.granted: int | None = None
        self.paused = False
        self.over = False
        self.inbox: deque[int | None] = deque()
        self.outbox: deque[Output] = deque()
        self.on_grant: Callable[[int], None] = lambda tokens: None
        self._held = ""
        self._untold = 0

    def submit(self, prompt: Prompt, sink: Sink) -> None:
        super().submit(prompt, sink)
        self.granted = prompt.granted_tokens
        self.outbox += [Waiting(self.id, 0, 0), Begun(self.id, 3, 0, 0)]

    def cancel(self, id: str) -> None:
        super().cancel(id)
        self.inbox.append(None)

    def grant(self, id: str, tokens: int) -> None:
        super().grant(id, tokens)
        self.on_grant(tokens)
        self.inbox.append(tokens)

    def step(self, text: str, *, silent: bool = False) -> None:
        """Hear the news, then make one token if the grant allows it; ``silent`` ones tell no text yet."""
        if self.over:
            return
        while self.inbox:
            command = self.inbox.popleft()
            if command is None:
                self._end("cancelled")
                return
            if self.granted is not None:
                self.granted = command
        if self.paused and not self._has_used_grant():
            self.paused = False
            self.outbox.append(Resumed(self.id, 0))
        if not self.paused and not self._has_used_grant():
            self._make(text, silent)
        if not self.over and not self.paused and self._has_used_grant():
            self.paused = True
            self.outbox.append(Paused(self.id, 0, self.made))

    def deliver(self, most: int = 1_000_000) -> None:
        """Bring home up to so many outputs."""
        while self.outbox and most > 0:
            self.tell(self.outbox.popleft())
            most -= 1

    # Private

    def _has_used_grant(self) -> bool:
        return self.granted is not None and self.made >= self.granted

    def _make(self, text: str, silent: bool) -> None:
        self.made += 1
        self._untold += 1
        self._held += text
        if not silent:
            self._tell_held()
        if self.made >= self.limit:
            self._end("length")

    def _tell_held(self) -> None:
        if self._untold:
            self.outbox.append(Piece(self.id, self._held, self._untold, 0))
            self._held, self._untold = "", 0

    def _end(self, reason: FinishReason) -> None:
        self._tell_held()
        self.over = True
        self.outbox.append(Ended(self.id, reason, 3, self.made, 0))
