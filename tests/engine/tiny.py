"""A toy model whose next token depends on every token before it, and a world to run it in.

TinyRunner keeps a slot's "KV" as the list of tokens written there; the logits of a position are a
hash of everything up to it. Any mix-up of slots, positions, copies or releases changes the text
or trips an assertion.
"""

from __future__ import annotations

import queue
import random
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache

import msgspec
import torch

from app.engine.commands import Command
from app.engine.door import Door
from app.engine.loop import Loop, LoopSettings
from app.engine.messages import Outputs, Report
from app.engine.runner_protocol import Chunk, DecodeRow, ModelRunner, Tokenizer
from app.generation import Ended, Failed, ModelInfo, Output, Piece, StepRecord
from app.prompt import Message, Prompt

VOCAB = 64
EOS = 0
_HALVES = (b"\xc3", b"\xa9", b"\xf0\x9f", b"\x98\x80", b"\xff")
_PIECES = (b"", b" ", b"a", b"b", b"c", b"ab", b"the ", b". ", *_HALVES)


class TinyTokenizer:
    """Token 0 ends; a few tokens are halves of characters, the others are single letters."""

    eos_ids = frozenset({EOS})
    next_turn: tuple[int, ...] = ()

    def encode_text(self, text: str) -> list[int]:
        return [1 + byte % (VOCAB - 1) for byte in text.encode()]

    def encode_chat(self, messages: Sequence[Message], continue_last: bool) -> list[int]:
        return self.encode_text("".join(f"{m.role}:{m.content};" for m in messages))

    def token_bytes(self, id: int) -> bytes:
        return _PIECES[id] if id < len(_PIECES) else chr(ord("A") + id - len(_PIECES)).encode()


@lru_cache(maxsize=50_000)
def _logits(history: bytes) -> list[float]:
    numbers = random.Random(zlib.crc32(history))
    return [numbers.uniform(-4, 4) for _ in range(VOCAB)]


class TinyRunner:
    """Satisfies ModelRunner. ``fail`` may raise before a step; ``log`` keeps what each step did."""

    info = ModelInfo("tiny", 256)
    vocab_size = VOCAB

    def __init__(self, num_slots: int = 8, context_tokens: int = 256) -> None:
        self.num_slots = num_slots
        self.context_tokens = context_tokens
        self.slots: list[list[int]] = [[] for _ in range(num_slots)]
        self.log: list[tuple[int, int]] = []
        self.num_tokens = 0
        self.fail: Callable[[Sequence[Chunk], Sequence[DecodeRow]], None] = lambda chunks, decode: None

    def step(self, chunks: Sequence[Chunk], decode: Sequence[DecodeRow]) -> torch.Tensor:
        self.fail(chunks, decode)
        self.log.append((sum(len(chunk.token_ids) for chunk in chunks), len(decode)))
        rows = []
        for chunk in chunks:
            assert chunk.token_ids
            for i, token_id in enumerate(chunk.token_ids):
                self._write(chunk.slot, chunk.start + i, token_id)
            if chunk.wants_logits:
                rows.append(self._look(chunk.slot, chunk.start + len(chunk.token_ids)))
        for slot, position, token_id in decode:
            self._write(slot, position, token_id)
            rows.append(self._look(slot, position + 1))
        return torch.tensor(rows).reshape(len(rows), VOCAB)

    def copy(self, src_slot: int, dst_slot: int, num_tokens: int) -> None:
        assert src_slot != dst_slot
        assert 0 < num_tokens <= len(self.slots[src_slot]), "copies what was never computed"
        self.slots[dst_slot] = self.slots[src_slot][:num_tokens]

    def release(self, slot: int, keep_tokens: int) -> None:
        del self.slots[slot][keep_tokens:]

    def _write(self, slot: int, position: int, token_id: int) -> None:
        held = self.slots[slot]
        assert position <= len(held), "a hole in the KV"
        assert position < self.context_tokens
        self.num_tokens += 1
        held[position : position + 1] = [token_id]

    def _look(self, slot: int, num_tokens: int) -> list[float]:
        return _logits(bytes(self.slots[slot][:num_tokens]))


class FakeClock:
    """Advances by a millisecond at every look, so that stamps differ."""

    def __init__(self) -> None:
        self.now_ns = 1_000_000

    def __call__(self) -> int:
        self.now_ns += 1_000_000
        return self.now_ns


class World:
    """One loop over a tiny runner, everything it said, and a clock to turn by hand."""

    def __init__(
        self,
        *,
        num_slots: int = 8,
        context_tokens: int = 256,
        before_step: Callable[[list[str]], None] | None = None,
        real_runner: ModelRunner | None = None,
        real_tokenizer: Tokenizer | None = None,
        **settings: int | float,
    ) -> None:
        self.runner = TinyRunner(num_slots, context_tokens)
        self.tokenizer = real_tokenizer or TinyTokenizer()
        self.clock = FakeClock()
        self.emitted: list[list[Output]] = []
        self.steps: list[StepRecord] = []
        numbers = {"max_batch": 4, "num_blocks": 64, **settings}
        self.loop = Loop(
            real_runner or self.runner,
            self.tokenizer,
            LoopSettings(**numbers),  # type: ignore[arg-type]
            emit=self.emitted.append,
            steps=self.steps.append,
            clock=self.clock,
            fresh_seed=lambda: 7,
            before_step=before_step,
        )
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        most_tokens = self.loop.scheduler.limits.sequence_tokens
        self._door = Door(self.tokenizer, most_tokens, self._commands, self._told, self.clock)

    def add(self, prompt: Prompt) -> None:
        """Through the door, as everybody's."""
        self._door.submit(prompt)
        self._door.serve(self._door._waiting.get())
        while not self._commands.empty():
            self.loop.apply(self._commands.get())

    def apply(self, *commands: Command) -> None:
        for command in commands:
            self.loop.apply(command)

    def run(self, most_steps: int = 5000) -> None:
        """Until nothing is left to do; slow motion's waits pass at once."""
        for _ in range(most_steps):
            wait_s = self.loop.run_once()
            self.loop.scheduler.check()
            if wait_s is None:
                return
            self.clock.now_ns += int(wait_s * 1e9)
        raise AssertionError("the loop never comes to an end")

    def _told(self, report: Report) -> None:
        assert isinstance(report, Outputs)
        self.emitted.append(report.outputs)

    def outputs(self, id: str) -> list[Output]:
        return [output for batch in self.emitted for output in batch if output.id == id]

    def text(self, id: str) -> str:
        return "".join(output.text for output in self.outputs(id) if isinstance(output, Piece))

    def ended(self, id: str) -> Ended:
        last = self.outputs(id)[-1]
        assert isinstance(last, Ended), last
        return last

    def failed(self, id: str) -> Failed:
        last = self.outputs(id)[-1]
        assert isinstance(last, Failed), last
        return last

    def kinds(self, id: str) -> list[str]:
        return [type(output).__name__ for output in self.outputs(id)]

    def num_tokens_told(self) -> dict[str, int]:
        told: dict[str, int] = defaultdict(int)
        for batch in self.emitted:
            for output in batch:
                if isinstance(output, Piece):
                    told[output.id] += output.tokens
        return told


def alone(prompt: Prompt, real_runner: ModelRunner | None = None) -> tuple[str, Ended]:
    """What ``prompt`` gives in an empty engine, without limits of memory, chunks or grants."""
    world = World(max_batch=1, prefill_chunk_tokens=1000, real_runner=real_runner)
    world.add(msgspec.structs.replace(prompt, granted_tokens=None))
    world.run()
    return world.text(prompt.id), world.ended(prompt.id)
