"""How much of a prompt fits into a step without anybody's stream stumbling."""

from hypothesis import given
from hypothesis import strategies as st

from app.engine.prefill_budget import PrefillBudget

MS = 1_000_000


def duration_ns(rows: int, tokens: int) -> int:
    """A machine: a decode step takes 10 ms, a piece of prompt 4 ms for being there and 1 ms a token."""
    decode = 10 * MS if rows else 0
    return decode + (4 * MS + tokens * MS if tokens else 0)


def budget(*, beside: bool = True, ratio: float = 2.5) -> PrefillBudget:
    """That machine, known from decode steps and a prompt read alone, and beside streams."""
    learned = PrefillBudget(most=128, least=8, gap_ratio=ratio)
    learned.observe(duration_ns(3, 0), num_rows=3, num_prompt_tokens=0)
    learned.observe(128 * MS, num_rows=0, num_prompt_tokens=128)
    if beside:
        learned.observe(duration_ns(3, 32), num_rows=3, num_prompt_tokens=32)
    return learned


def test_a_whole_chunk_while_nobody_streams_or_nothing_is_known():
    assert budget().tokens(num_streaming=0, num_waiting=1) == 128
    assert PrefillBudget(most=128, least=8, gap_ratio=2.5).tokens(3, 1) == 128


def test_beside_streams_the_step_keeps_to_the_ratio():
    tokens = budget().tokens(num_streaming=3, num_waiting=1)
    assert tokens == 11
    assert duration_ns(3, tokens) == 25 * MS


def test_a_first_piece_beside_streams_is_careful():
    assert budget(beside=False).tokens(num_streaming=3, num_waiting=1) == 8


def test_the_few_do_not_hold_up_the_many():
    assert budget().tokens(num_streaming=3, num_waiting=12) == 56
    assert budget().tokens(num_streaming=1, num_waiting=15) == 128


def test_while_several_wait_a_step_may_take_as_long_as_reading_a_token():
    tokens = budget().tokens(num_streaming=12, num_waiting=2)
    assert duration_ns(12, tokens) == 60 * MS
    # One alone is not worth that: the others would feel a stumble.
    assert duration_ns(12, budget().tokens(num_streaming=12, num_waiting=1)) == 25 * MS


def test_where_steps_take_longer_than_reading_several_get_no_more_than_one():
    slow = PrefillBudget(most=128, least=8, gap_ratio=2.5)
    slow.observe(80 * MS, num_rows=3, num_prompt_tokens=0)
    slow.observe(512 * MS, num_rows=0, num_prompt_tokens=128)
    assert slow.tokens(3, 2) == slow.tokens(3, 1) > 8


def test_a_prompt_always_gets_on():
    slow = PrefillBudget(most=128, least=8, gap_ratio=2.5)
    slow.observe(1 * MS, num_rows=1, num_prompt_tokens=0)
    slow.observe(128 * MS, num_rows=0, num_prompt_tokens=128)
    assert slow.tokens(1, 1) == 8


def test_small_pieces_do_not_make_prompt_tokens_seem_ever_dearer():
    learned = budget()
    seen = set()
    for _ in range(50):
        tokens = learned.tokens(3, 1)
        seen.add(tokens)
        learned.observe(duration_ns(3, tokens), num_rows=3, num_prompt_tokens=tokens)
    assert seen == {11}


@given(
    fixed_ms=st.floats(0, 30),
    each_ms=st.floats(0.1, 5),
    plain_ms=st.floats(5, 100),
    ratio=st.floats(1.5, 3),
    start=st.integers(1, 128),
)
def test_once_learned_the_longest_step_beside_streams_is_bounded_whatever_the_prompt(
    fixed_ms, each_ms, plain_ms, ratio, start
):
    learned = PrefillBudget(most=128, least=8, gap_ratio=ratio)
    learned.observe(int(plain_ms * MS), 3, 0)
    learned.observe(int((fixed_ms + each_ms * start) * MS), 0, start)
    steps = []
    for _ in range(100):
        tokens = learned.tokens(num_streaming=3, num_waiting=1)
        step_ms = plain_ms + fixed_ms + each_ms * tokens
        learned.observe(int(step_ms * MS), 3, tokens)
        steps.append((step_ms, tokens))
    step_ms, tokens = steps[-1]
    assert tokens == 8 or step_ms <= plain_ms * ratio * 1.05
    # Nor is it more timid than it must be.
    assert tokens == 128 or plain_ms + fixed_ms + each_ms * (tokens + 2) > plain_ms * ratio * 0.75


def test_it_follows_a_machine_that_changes():
    learned = budget()
    for _ in range(60):
        learned.observe(20 * MS, num_rows=3, num_prompt_tokens=0)
    assert 25 <= learned.tokens(3, 1) <= 26


def test_dearer_pieces_make_the_next_ones_smaller_at_once():
    learned = budget()
    for _ in range(4):
        learned.observe(10 * MS + 3 * 11 * MS, num_rows=3, num_prompt_tokens=11)
    assert learned.tokens(3, 1) == 8


def test_short_prompts_alone_do_not_hide_what_a_token_costs():
    learned = budget()
    for _ in range(20):
        learned.observe(20 * MS, num_rows=0, num_prompt_tokens=5)
    assert learned.tokens(3, 1) == 11


def test_an_unknown_number_of_rows_is_judged_by_the_nearest_known():
    learned = budget()
    learned.observe(100 * MS, num_rows=16, num_prompt_tokens=0)
    assert learned.tokens(2, 1) == 11
    assert learned.tokens(12, 1) == 128


def test_one_odd_measurement_does_not_make_the_cost_nothing():
    learned = budget()
    learned.observe(1, num_rows=3, num_prompt_tokens=32)
    assert learned.tokens(3, 1) <= 15
