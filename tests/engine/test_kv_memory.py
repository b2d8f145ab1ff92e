"""Where sequences find room, and which beginnings they reuse."""

from app.engine.kv_memory import Copy, KvMemory, Release

TOKENS = list(range(200))


def cached(memory: KvMemory, token_ids: list[int]) -> int:
    placed = memory.place(token_ids, [], 0)
    assert placed is not None
    memory.retire(placed[0], token_ids)
    memory.take_actions()
    return placed[0]


def test_a_next_turn_takes_the_cached_slot_over_and_needs_only_what_is_new():
    memory = KvMemory(num_slots=4, num_blocks=40)
    slot = cached(memory, TOKENS[:100])
    assert memory.place(TOKENS[:120], [], 0) == (slot, 100)
    assert memory.take_actions() == ()
    memory.check()


def test_the_last_token_is_computed_even_if_all_is_known():
    memory = KvMemory(num_slots=4, num_blocks=40)
    slot = cached(memory, TOKENS[:100])
    assert memory.place(TOKENS[:100], [], 0) == (slot, 99)
    assert memory.take_actions() == (Release(slot, 99),)


def test_a_short_shared_beginning_is_copied_and_the_conversation_stays_cached():
    memory = KvMemory(num_slots=4, num_blocks=40)
    slot = cached(memory, TOKENS[:100])
    placed = memory.place([*TOKENS[:30], 999], [], 0)
    assert placed is not None and placed[0] != slot and placed[1] == 30
    assert memory.take_actions() == (Copy(slot, placed[0], 30),)
    assert memory.blocks.num_cached_slots == 1


def test_a_short_shared_beginning_is_taken_over_when_there_is_no_room_for_both():
    memory = KvMemory(num_slots=1, num_blocks=40)
    slot = cached(memory, TOKENS[:100])
    assert memory.place([*TOKENS[:30], 999], [], 0) == (slot, 30)
    assert memory.take_actions() == (Release(slot, 30),)
    memory.check()


def test_a_long_shared_beginning_is_copied_while_memory_is_free_and_taken_over_else():
    memory = KvMemory(num_slots=4, num_blocks=14)
    slot = cached(memory, TOKENS[:100])
    placed = memory.place([*TOKENS[:80], 999], [], 0)
    assert placed is not None and placed[0] != slot and placed[1] == 80
    assert memory.take_actions() == (Copy(slot, placed[0], 80),)
    memory.release(placed[0])
    memory.take_actions()
    assert memory.place([*TOKENS[:80], 999], [], 2) == (slot, 80), "not at the cost of the blocks in hand"
    assert memory.take_actions() == (Release(slot, 80),)


def test_a_few_lost_tokens_are_not_worth_a_copy():
    memory = KvMemory(num_slots=4, num_blocks=40)
    slot = cached(memory, TOKENS[:100])
    assert memory.place([*TOKENS[:85], 999], [], 0) == (slot, 85)


def test_a_living_sequence_gives_only_what_it_has_computed():
    memory = KvMemory(num_slots=4, num_blocks=40)
    first = memory.place(TOKENS[:100], [], 0)
    assert first is not None
    second = memory.place(TOKENS[:100], [(first[0], TOKENS[:100], 40)], 0)
    assert second is not None and second[1] == 40
    assert memory.take_actions() == (Copy(first[0], second[0], 40),)
    third = memory.place(TOKENS[:100], [(first[0], TOKENS[:100], 0)], 0)
    assert third is not None and third[1] == 0


def test_less_than_a_block_is_not_reused():
    memory = KvMemory(num_slots=4, num_blocks=40)
    cached(memory, TOKENS[:100])
    placed = memory.place([*TOKENS[:15], 999], [], 0)
    assert placed is not None and placed[1] == 0


def test_the_least_recently_used_entries_make_room():
    memory = KvMemory(num_slots=4, num_blocks=12)
    old = cached(memory, TOKENS[:64])
    young = cached(memory, [7, *TOKENS[:63]])
    placed = memory.place([8, *TOKENS[:90]], [], 0)
    assert placed is not None
    assert Release(old, 0) in memory.take_actions()
    assert memory.blocks.held(young) == 4
    memory.check()


def test_no_room_is_no_room_and_changes_nothing():
    memory = KvMemory(num_slots=2, num_blocks=10)
    cached(memory, TOKENS[:32])
    assert memory.place([9, *TOKENS[:100]], [], headroom_blocks=4) is None
    assert memory.blocks.num_cached == 2
    assert memory.place([9, *TOKENS[:100]], [], headroom_blocks=3) is not None
    assert memory.place([8], [], 0) is not None
    assert memory.place([8], [], 0) is None, "all slots are owned"


def test_growing_evicts_before_it_fails():
    memory = KvMemory(num_slots=2, num_blocks=4)
    cached(memory, TOKENS[:32])
    placed = memory.place([9], [], 0)
    assert placed is not None
    assert memory.grow(placed[0], 64)
    assert not memory.grow(placed[0], 65)
    assert memory.blocks.num_cached == 0


def test_what_holds_less_than_a_block_is_not_cached():
    memory = KvMemory(num_slots=2, num_blocks=4)
    placed = memory.place(TOKENS[:20], [], 0)
    assert placed is not None
    memory.retire(placed[0], TOKENS[:15])
    assert memory.blocks.num_free == 4
    assert memory.take_actions() == (Release(placed[0], 0),)
