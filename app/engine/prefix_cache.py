"""Finished sequences' slots, kept because a conversation's next turn begins like them.

Remembers which tokens a cached slot holds and which was used last. An entry that another entry
begins with is dropped: the longer one serves for both. This module refuses to know blocks, memory
and who asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def common_prefix(a: Sequence[int], b: Sequence[int], at_most: int) -> int:
    """How many tokens at their beginning two lists share, looking at ``at_most`` of them.

    Halving with slices compares in C: a Python loop over 2,000 tokens and 32 slots would cost
    more than a decode step.
    """
    low, high = 0, min(len(a), len(b), at_most)
    if a[:1] != b[:1]:
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


class PrefixCache:
    """Cached slots by the tokens they hold, least recently used first."""

    def __init__(self) -> None:
        self._entries: dict[int, list[int]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> Iterable[tuple[int, list[int]]]:
        """(slot, its tokens), least recently used first."""
        return self._entries.items()

    def insert(self, slot: int, token_ids: list[int]) -> list[int]:
        """Keep ``slot`` as the most recent entry; returns the slots that are no longer worth keeping.

        That is ``slot`` itself when another entry begins with its tokens.
        """
        assert slot not in self._entries
        for other, held in self._entries.items():
            if held[: len(token_ids)] == token_ids:
                self.touch(other)
                return [slot]
        covered = [other for other, held in self._entries.items() if token_ids[: len(held)] == held]
        for other in covered:
            del self._entries[other]
        self._entries[slot] = token_ids
        return covered

    def touch(self, slot: int) -> None:
        """``slot`` was used just now."""
        self._entries[slot] = self._entries.pop(slot)

    def remove(self, slot: int) -> None:
        """Forget ``slot``."""
        del self._entries[slot]

    def oldest(self) -> int | None:
        """The least recently used slot; None when nothing is kept."""
        return next(iter(self._entries), None)
