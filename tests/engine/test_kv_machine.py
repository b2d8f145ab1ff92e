"""The KV memory's books under any history, against books of our own in tokens."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from app.engine.kv_blocks import BLOCK_TOKENS, KvBlocks

NUM_SLOTS, NUM_BLOCKS = 4, 12
_tokens = st.integers(0, 5 * BLOCK_TOKENS)
_pick = st.integers(0, NUM_SLOTS - 1)


def blocks(tokens: int) -> int:
    """Whole blocks that hold so many tokens."""
    return (tokens + BLOCK_TOKENS - 1) // BLOCK_TOKENS


class KvMachine(RuleBasedStateMachine):
    """Slots are taken, grown, kept for their prefix, taken up again and given back, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.kv = KvBlocks(NUM_SLOTS, NUM_BLOCKS)
        self.owned: dict[int, int] = {}
        self.cached: dict[int, int] = {}

    @property
    def free(self) -> int:
        return NUM_BLOCKS - sum(self.owned.values()) - sum(self.cached.values())

    @precondition(lambda self: len(self.owned) + len(self.cached) < NUM_SLOTS)
    @rule(tokens=_tokens)
    def acquire(self, tokens: int) -> None:
        if blocks(tokens) <= self.free:
            slot = self.kv.acquire(tokens)
            assert slot not in self.owned | self.cached
            self.owned[slot] = blocks(tokens)

    @precondition(lambda self: self.owned)
    @rule(pick=_pick, tokens=_tokens)
    def resize(self, pick: int, tokens: int) -> None:
        slot = sorted(self.owned)[pick % len(self.owned)]
        fits = blocks(tokens) - self.owned[slot] <= self.free
        assert self.kv.resize(slot, tokens) == fits
        if fits:
            self.owned[slot] = blocks(tokens)

    @precondition(lambda self: self.owned)
    @rule(pick=_pick, share=st.integers(0, 100))
    def retire(self, pick: int, share: int) -> None:
        slot = sorted(self.owned)[pick % len(self.owned)]
        kept = self.owned.pop(slot) * share // 100
        self.kv.retire(slot, kept * BLOCK_TOKENS)
        self.cached[slot] = kept

    @precondition(lambda self: self.cached)
    @rule(pick=_pick)
    def revive(self, pick: int) -> None:
        slot = sorted(self.cached)[pick % len(self.cached)]
        self.kv.revive(slot)
        self.owned[slot] = self.cached.pop(slot)

    @precondition(lambda self: self.owned or self.cached)
    @rule(pick=_pick)
    def release(self, pick: int) -> None:
        held = sorted(self.owned | self.cached)
        slot = held[pick % len(held)]
        self.kv.release(slot)
        self.owned.pop(slot, None)
        self.cached.pop(slot, None)

    @invariant()
    def the_books_are_the_same(self) -> None:
        self.kv.check()
        assert self.kv.num_free == self.free
        assert (self.kv.num_owned, self.kv.num_cached) == (
            sum(self.owned.values()),
            sum(self.cached.values()),
        )
        assert self.kv.num_free_slots == NUM_SLOTS - len(self.owned) - len(self.cached)
        assert self.kv.num_cached_slots == len(self.cached)
        assert all(self.kv.held(slot) == held for slot, held in [*self.owned.items(), *self.cached.items()])


TestKvMachine = KvMachine.TestCase
TestKvMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
