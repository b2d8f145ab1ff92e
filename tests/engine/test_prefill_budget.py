"""How much of a prompt fits into a step without anybody's stream stumbling."""

from app.engine.prefill_budget import PrefillBudget


def budget() -> PrefillBudget:
    """A machine on which a decode step takes 10 ms and each prompt token adds 1 ms."""
    learned = PrefillBudget(most=128, least=8, gap_ratio=2.5)
    learned.observe(10_000_000, num_rows=3, num_prompt_tokens=0)
    learned.observe(42_000_000, num_rows=3, num_prompt_tokens=32)
    return learned


def test_a_whole_chunk_while_nobody_streams_or_nothing_is_known():
    assert budget().tokens(num_streaming=0, num_waiting=1) == 128
    assert PrefillBudget(most=128, least=8, gap_ratio=2.5).tokens(3, 1) == 128


def test_beside_streams_the_step_keeps_to_the_ratio():
    assert budget().tokens(num_streaming=3, num_waiting=1) == 15


def test_the_few_do_not_hold_up_the_many():
    assert budget().tokens(num_streaming=3, num_waiting=12) == 60
    assert budget().tokens(num_streaming=1, num_waiting=15) == 128


def test_a_prompt_always_gets_on():
    slow = PrefillBudget(most=128, least=8, gap_ratio=2.5)
    slow.observe(1_000_000, num_rows=1, num_prompt_tokens=0)
    slow.observe(128_000_000, num_rows=0, num_prompt_tokens=128)
    assert slow.tokens(1, 1) == 8


def test_it_follows_a_machine_that_changes():
    learned = budget()
    for _ in range(60):
        learned.observe(20_000_000, num_rows=3, num_prompt_tokens=0)
    assert 28 <= learned.tokens(3, 1) <= 30


def test_it_is_quick_to_learn_that_prompts_are_dear_and_slow_to_forget():
    learned = budget()
    for _ in range(4):
        learned.observe(10_000_000 + 3 * 15 * 1_000_000, num_rows=3, num_prompt_tokens=15)
    assert learned.tokens(3, 1) == 8
    learned.observe(25_000_000, num_rows=3, num_prompt_tokens=15)
    assert learned.tokens(3, 1) == 8


def test_an_unknown_number_of_rows_is_judged_by_the_nearest_known():
    learned = budget()
    learned.observe(100_000_000, num_rows=16, num_prompt_tokens=0)
    assert learned.tokens(2, 1) == 15
    assert learned.tokens(12, 1) == 128


def test_one_odd_measurement_does_not_make_the_cost_nothing():
    learned = budget()
    learned.observe(1, num_rows=3, num_prompt_tokens=32)
    assert learned.tokens(3, 1) <= 17
