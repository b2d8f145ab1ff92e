"""A factory for the engine's process without torch: a loop that counts aloud, and misbehaves on
request.

``settings.model`` chooses how it loads; a prompt's first word chooses what becomes of it.
"""

from __future__ import annotations

import os
import queue
import signal
import time
from collections.abc import Sequence

from app.engine.commands import Add, Cancel, Command, Grant, Stop, Watch
from app.engine.process import Emit, Parts, Progress, TellStep
from app.errors import BadRequest, StartupError
from app.generation import Begun, Ended, ModelInfo, Piece, StepRecord, Waiting
from app.prompt import Message
from app.settings import Settings

CONTEXT_TOKENS = 100


def make(settings: Settings, progress: Progress, emit: Emit, tell_step: TellStep) -> Parts:
    progress("reading the fake", 0.5)
    match settings.model:
        case "unknown":
            raise StartupError("there is no model called 'unknown'")
        case "broken":
            raise ValueError("the header is all wrong")
        case "deadly":
            os.kill(os.getpid(), signal.SIGKILL)
        case "endless":
            while True:
                time.sleep(1)
    loop = CountingLoop(emit, tell_step)
    info = ModelInfo("fake", CONTEXT_TOKENS)
    return Parts(info, WordTokenizer(), CONTEXT_TOKENS, loop.run, lambda: loop.step_began_ns)


class WordTokenizer:
    """A word is a token; its id is its length. The text "endless" takes for ever."""

    eos_ids = frozenset({0})
    next_turn: tuple[int, ...] = ()

    def encode_chat(self, messages: Sequence[Message], continue_last: bool) -> list[int]:
        if messages[0].role == "system":
            raise ValueError("no system messages")
        if messages[-1].role == "assistant" and not continue_last:
            raise BadRequest("the template takes no such turn", param="messages")
        return [len(word) for message in messages for word in message.content.split()]

    def encode_text(self, text: str) -> list[int]:
        while text == "endless":
            time.sleep(1)
        text.encode()  # as every tokenizer, it reads UTF-8
        return [len(word) for word in text.split()]

    def token_bytes(self, id: int) -> bytes:
        return b"x" * id


class CountingLoop:
    """Says "0 1 2 …", a number a step, for all sequences together."""

    def __init__(self, emit: Emit, tell_step: TellStep) -> None:
        self.step_began_ns: int | None = None
        self._emit = emit
        self._tell_step = tell_step
        self._made: dict[str, int] = {}
        self._limit: dict[str, int] = {}
        self._prompt_tokens: dict[str, int] = {}
        self._watched = False

    def run(self, commands: queue.SimpleQueue[Command]) -> None:
        while True:
            try:
                command = commands.get(timeout=0.005 if self._made else None)
            except queue.Empty:
                self._step()
                continue
            match command:
                case Add():
                    self._add(command)
                case Cancel(id):
                    self._end(id, "cancelled")
                case Grant(id, tokens):
                    self._limit[id] = tokens
                case Watch(on):
                    self._watched = on
                case Stop():
                    return

    def _add(self, add: Add) -> None:
        prompt, now_ns = add.prompt, time.monotonic_ns()
        said = prompt.text if prompt.text is not None else prompt.messages[0].content
        match said.split()[0]:
            case "raise":
                raise RuntimeError("the device is lost")
            case "hang":
                self.step_began_ns = now_ns
                while True:
                    time.sleep(1)
        self._emit([Waiting(prompt.id, 0, now_ns), Begun(prompt.id, len(add.token_ids), 0, now_ns)])
        self._made[prompt.id] = 0
        self._limit[prompt.id] = prompt.max_tokens
        self._prompt_tokens[prompt.id] = len(add.token_ids)

    def _step(self) -> None:
        began_ns = time.monotonic_ns()
        rows = [(id, "decode", 1) for id in self._made]
        self._emit([Piece(id, f"{made} ", 1, began_ns) for id, made in self._made.items()])
        for id in list(self._made):
            self._made[id] += 1
            if self._made[id] >= self._limit[id]:
                self._end(id, "length")
        if self._watched:
            self._tell_step(StepRecord(began_ns, 1, rows, 0, 1, 0, 0))  # type: ignore[arg-type]

    def _end(self, id: str, reason: str) -> None:
        made = self._made.pop(id, None)
        if made is not None:
            ended = Ended(id, reason, self._prompt_tokens[id], made, time.monotonic_ns())  # type: ignore[arg-type]
            self._emit([ended])
