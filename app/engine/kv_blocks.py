"""KV memory counted in blocks of 16 tokens, and the slots that hold them.

The tensors are contiguous slots whose memory is committed as it is written; how much may be
committed in all is decided here. A slot is free, owned by a sequence, or cached (a finished
sequence's, kept for its beginning). This module refuses to know what is in a slot, whose it is,
and tensors.
"""

from __future__ import annotations

BLOCK_TOKENS = 16


def blocks_for(num_tokens: int) -> int:
    """Blocks that hold so many tokens."""
    return -(-num_tokens // BLOCK_TOKENS)


def choose_num_blocks(*, max_batch: int, context_tokens: int, bytes_per_token: int, free_bytes: int) -> int:
    """How many blocks an engine gets that was given no number.

    Enough for a full batch of 2,048-token conversations and as much again for those that are
    paused or cached, and for one full context; but at most half of the device's free memory
    (prompts that then cannot fit are refused at the door).
    """
    wanted = max(2 * max_batch * blocks_for(min(context_tokens, 2048)), blocks_for(context_tokens))
    affordable = free_bytes // 2 // (bytes_per_token * BLOCK_TOKENS)
    return max(1, min(wanted, affordable))


class KvBlocks:
    """Counts of one device's KV memory; its books always balance (``check``)."""

    def __init__(self, num_slots: int, num_blocks: int) -> None:
        assert num_slots >= 1 and num_blocks >= 1
        self.num_slots = num_slots
        self.num_blocks = num_blocks
        self._free_slots = list(reversed(range(num_slots)))
        self._owned: dict[int, int] = {}
        self._cached: dict[int, int] = {}
        self._num_free = num_blocks

    @property
    def num_free(self) -> int:
        return self._num_free

    @property
    def num_owned(self) -> int:
        return sum(self._owned.values())

    @property
    def num_cached(self) -> int:
        return sum(self._cached.values())

    @property
    def num_free_slots(self) -> int:
        return len(self._free_slots)

    @property
    def num_cached_slots(self) -> int:
        return len(self._cached)

    def held(self, slot: int) -> int:
        """Blocks of one slot, whoever has it."""
        return self._owned.get(slot, 0) + self._cached.get(slot, 0)

    def acquire(self, num_tokens: int) -> int:
        """Take a free slot with room for ``num_tokens``; the caller made sure that there is one."""
        blocks = blocks_for(num_tokens)
        assert self._free_slots and blocks <= self._num_free, "no room"
        slot = self._free_slots.pop()
        self._owned[slot] = blocks
        self._num_free -= blocks
        return slot

    def resize(self, slot: int, num_tokens: int) -> bool:
        """Let an owned slot hold ``num_tokens``; False, and nothing changed, if there is no room."""
        more = blocks_for(num_tokens) - self._owned[slot]
        if more > self._num_free:
            return False
        self._owned[slot] += more
        self._num_free -= more
        return True

    def retire(self, slot: int, num_tokens: int) -> None:
        """An owned slot becomes a cached one that keeps its first ``num_tokens``."""
        shrunk = self.resize(slot, num_tokens)
        assert shrunk
        self._cached[slot] = self._owned.pop(slot)

    def revive(self, slot: int) -> None:
        """A cached slot becomes an owned one, as large as it is."""
        self._owned[slot] = self._cached.pop(slot)

    def release(self, slot: int) -> None:
        """An owned or cached slot becomes free."""
        held = self._owned.pop(slot) if slot in self._owned else self._cached.pop(slot)
        self._num_free += held
        self._free_slots.append(slot)

    def check(self) -> None:
        """Assert that no slot and no block is lost or held twice."""
        slots = sorted([*self._free_slots, *self._owned, *self._cached])
        assert slots == list(range(self.num_slots)), "a slot is lost or held twice"
        assert self._num_free >= 0
        assert self._num_free + self.num_owned + self.num_cached == self.num_blocks, "a block leaked"
