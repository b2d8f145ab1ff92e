"""Where a sequence's keys and values live: finds room, reuses beginnings, evicts.

Joins the books of ``kv_blocks`` with ``prefix_cache``. What the runner must do about it (copy,
release) is written down in order; the loop takes the list and does it before the next step. This
module refuses to know sequences' states, who is older, and tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from app.engine.kv_blocks import BLOCK_TOKENS, KvBlocks, blocks_for
from app.engine.prefix_cache import PrefixCache, common_prefix


@dataclass(frozen=True, slots=True)
class Copy:
    """Copy the first ``num_tokens`` of ``src`` to ``dst``."""

    src: int
    dst: int
    num_tokens: int


@dataclass(frozen=True, slots=True)
class Release:
    """Nothing behind ``keep_tokens`` of ``slot`` is needed any more."""

    slot: int
    keep_tokens: int


Action = Copy | Release

#: Tokens that are copied rather than one is lost that may be wanted again.
_COPIED_FOR_ONE = 32


#: A living sequence's slot: (slot, its tokens, how many of them are computed).
Living = tuple[int, list[int], int]


@dataclass(frozen=True, slots=True)
class Source:
    """A slot that already holds the first ``matched`` of the wanted tokens."""

    slot: int
    matched: int
    #: Tokens it holds in all; None: it is a living sequence's and cannot be taken over.
    cached_tokens: int | None


class KvMemory:
    """All slots of one runner."""

    def __init__(self, num_slots: int, num_blocks: int) -> None:
        self.blocks = KvBlocks(num_slots, num_blocks)
        self._cache = PrefixCache()
        self._actions: list[Action] = []

    def take_actions(self) -> tuple[Action, ...]:
        """What the runner must do before its next step, in this order."""
        actions, self._actions = tuple(self._actions), []
        return actions

    @property
    def num_spare_slots(self) -> int:
        """Slots that can be had without taking one from a living sequence."""
        return self.blocks.num_free_slots + self.blocks.num_cached_slots

    def place(
        self, token_ids: list[int], living: Iterable[Living], headroom_blocks: int
    ) -> tuple[int, int] | None:
        """Room for ``token_ids``: (slot, how many of them it holds already); None if there is none.

        ``living`` are the slots whose beginning may be copied besides the cached ones.
        ``headroom_blocks`` must stay free or evictable. The last token is never among those held:
        its logits are wanted.
        """
        need = blocks_for(len(token_ids)) + headroom_blocks
        if not self._could_have(need, but=None):
            return None
        source = self._longest(token_ids, living)
        if source is None or source.cached_tokens is None:
            return self._fresh(token_ids, source)
        if self._spares_its_end(source, source.cached_tokens - source.matched, need):
            return self._fresh(token_ids, source)
        return self._take_over(token_ids, source)

    def grow(self, slot: int, num_tokens: int) -> bool:
        """Let an owned slot hold ``num_tokens``, evicting cached ones; False if that is not enough."""
        while not self.blocks.resize(slot, num_tokens):
            if not self._evict_oldest():
                return False
        return True

    def retire(self, slot: int, token_ids: list[int]) -> None:
        """A sequence is over; ``token_ids`` are those its slot really holds. They stay cached."""
        if len(token_ids) < BLOCK_TOKENS:
            self.release(slot)
            return
        self.blocks.retire(slot, len(token_ids))
        for useless in self._cache.insert(slot, token_ids):
            self.release(useless)

    def release(self, slot: int) -> None:
        """Forget what an owned slot (or one just dropped from the cache) holds."""
        self.blocks.release(slot)
        self._actions.append(Release(slot, 0))

    def drop_cache(self) -> None:
        """Give all cached slots back."""
        while self._evict_oldest():
            pass

    def check(self) -> None:
        """Assert that the books balance and the cache agrees with them."""
        self.blocks.check()
        assert len(self._cache) == self.blocks.num_cached_slots
        for slot, token_ids in self._cache.items():
            assert self.blocks.held(slot) == blocks_for(len(token_ids))

    # Private

    def _longest(self, token_ids: list[int], living: Iterable[Living]) -> Source | None:
        most = len(token_ids) - 1
        sources = [
            Source(slot, common_prefix(token_ids, held, most), len(held))
            for slot, held in self._cache.items()
        ]
        sources += [
            Source(slot, common_prefix(token_ids, held, min(most, computed)), None)
            for slot, held, computed in living
        ]
        best = max(sources, key=lambda source: source.matched, default=None)
        # Less than a block is not worth the copy, nor somebody else's cache entry.
        return best if best is not None and best.matched >= BLOCK_TOKENS else None

    def _could_have(self, num_blocks: int, but: int | None) -> bool:
        """Whether a free slot and so many blocks can be had by evicting entries other than ``but``."""
        kept = 0 if but is None else self.blocks.held(but)
        slots = self.num_spare_slots - (0 if but is None else 1)
        return slots >= 1 and self.blocks.num_free + self.blocks.num_cached - kept >= num_blocks

    def _spares_its_end(self, source: Source, lost: int, need: int) -> bool:
        """Whether to copy from a cached entry instead of overwriting the ``lost`` tokens of its end.

        That end is another conversation's, which may go on. Copying a hundred tokens costs what computing
        one does, but ends are seldom wanted again. Others' entries are only worth most of an entry.
        """
        has_room = self.blocks.num_free_slots > 0 and self.blocks.num_free >= need
        if has_room and lost >= BLOCK_TOKENS and lost * _COPIED_FOR_ONE >= source.matched:
            return True
        return lost > source.matched and self._could_have(need, but=source.slot)

    def _fresh(self, token_ids: list[int], source: Source | None) -> tuple[int, int]:
        if source is not None and source.cached_tokens is not None:
            # As the youngest entry it outlives those that now make room.
            self._cache.touch(source.slot)
        while self.blocks.num_free_slots == 0 or self.blocks.num_free < blocks_for(len(token_ids)):
            evicted = self._evict_oldest()
            assert evicted, "room was promised"
        slot = self.blocks.acquire(len(token_ids))
        if source is None:
            return slot, 0
        self._actions.append(Copy(source.slot, slot, source.matched))
        return slot, source.matched

    def _take_over(self, token_ids: list[int], source: Source) -> tuple[int, int]:
        self._cache.remove(source.slot)
        self.blocks.revive(source.slot)
        if source.cached_tokens != source.matched:
            self._actions.append(Release(source.slot, source.matched))
        grown = self.grow(source.slot, len(token_ids))
        assert grown, "room was promised"
        return source.slot, source.matched

    def _evict_oldest(self) -> bool:
        slot = self._cache.oldest()
        if slot is None:
            return False
        self._cache.remove(slot)
        self.release(slot)
        return True
