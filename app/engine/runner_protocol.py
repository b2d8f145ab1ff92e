"""What the loop needs of a model and of a tokenizer, as two protocols and one value.

The scheduler thinks in slots and positions; a runner turns those into tensors. A slot is room
for one sequence's keys and values, addressed by position from 0; what lies behind the position
being computed is never read, so a slot may be cut and written again. This module refuses to know
torch at run time, weights, and who asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from app.generation import ModelInfo
from app.prompt import Message

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one prompt: ``token_ids`` go to positions ``start``... of ``slot``.

    ``wants_logits`` is true for the piece that completes the prompt: the logits of its last
    position are returned.
    """

    slot: int
    start: int
    token_ids: Sequence[int]
    wants_logits: bool


#: One token of a running sequence: (slot, position, token id).
DecodeRow = tuple[int, int, int]


class ModelRunner(Protocol):
    """One model with its KV memory; called by one thread only."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def num_slots(self) -> int: ...

    @property
    def context_tokens(self) -> int: ...

    def step(self, chunks: Sequence[Chunk], decode: Sequence[DecodeRow]) -> torch.Tensor:
        """Write the tokens' keys and values and return float32 logits.

        Shape [chunks that want logits + decode rows, vocab_size], chunks first, in order. Doing
        the same work again gives the same result, so a failed step may be tried again in parts.
        """
        ...

    def copy(self, src_slot: int, dst_slot: int, num_tokens: int) -> None:
        """Copy the keys and values of the first ``num_tokens`` positions."""
        ...

    def release(self, slot: int, keep_tokens: int) -> None:
        """Positions from ``keep_tokens`` on are no longer needed; their memory may be given back."""
        ...


class Tokenizer(Protocol):
    """Text to token ids and back."""

    @property
    def eos_ids(self) -> frozenset[int]: ...

    @property
    def next_turn(self) -> tuple[int, ...]:
        """What the template writes between a reply and the next question; empty where that is not known."""
        ...

    def encode_chat(self, messages: Sequence[Message], continue_last: bool) -> list[int]:
        """Token ids of a conversation in the model's own chat template."""
        ...

    def encode_text(self, text: str) -> list[int]:
        """Token ids of a raw text, no template."""
        ...

    def token_bytes(self, id: int) -> bytes:
        """The exact bytes of one token; empty for control tokens."""
        ...
