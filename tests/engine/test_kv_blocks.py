"""The books of the KV memory."""

import pytest

from app.engine.kv_blocks import KvBlocks, blocks_for, choose_num_blocks


def test_memory_held_is_the_tokens_held_rounded_up_to_a_block():
    assert [blocks_for(n) for n in (0, 1, 16, 17, 600)] == [0, 1, 1, 2, 38]


def test_a_slot_passes_from_free_to_owned_to_cached_and_back():
    blocks = KvBlocks(num_slots=2, num_blocks=10)
    slot = blocks.acquire(33)
    assert (blocks.num_free, blocks.num_owned, blocks.held(slot)) == (7, 3, 3)
    blocks.retire(slot, 20)
    assert (blocks.num_free, blocks.num_owned, blocks.num_cached) == (8, 0, 2)
    blocks.revive(slot)
    assert (blocks.num_owned, blocks.num_cached) == (2, 0)
    blocks.release(slot)
    blocks.check()
    assert (blocks.num_free, blocks.num_free_slots) == (10, 2)


def test_growing_beyond_what_is_free_changes_nothing():
    blocks = KvBlocks(num_slots=2, num_blocks=4)
    first, second = blocks.acquire(16), blocks.acquire(32)
    assert not blocks.resize(first, 33)
    assert blocks.resize(first, 32)
    assert blocks.num_free == 0
    blocks.check()
    assert blocks.resize(second, 1)
    assert blocks.num_free == 1


def test_taking_a_slot_that_is_not_there_is_our_mistake():
    blocks = KvBlocks(num_slots=1, num_blocks=4)
    blocks.acquire(1)
    with pytest.raises(AssertionError, match="no room"):
        blocks.acquire(1)


def test_a_leak_is_found():
    blocks = KvBlocks(num_slots=1, num_blocks=4)
    slot = blocks.acquire(1)
    blocks._owned[slot] = 2
    with pytest.raises(AssertionError, match="leaked"):
        blocks.check()


def test_the_number_of_blocks_follows_the_batch_the_context_and_the_memory():
    plenty = 1 << 40
    small = {"max_batch": 16, "context_tokens": 8192, "bytes_per_token": 23_040}
    assert choose_num_blocks(**small, free_bytes=plenty) == 2 * 16 * 128
    assert choose_num_blocks(**small, free_bytes=2 * 100 * 16 * 23_040) == 100
    lone = {"max_batch": 1, "context_tokens": 131_072, "bytes_per_token": 1}
    assert choose_num_blocks(**lone, free_bytes=plenty) == 8192
    assert choose_num_blocks(**lone, free_bytes=0) == 1
