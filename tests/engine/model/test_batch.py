"""Rows of a step: where each token sits, which rows attend together, whose logits are wanted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.engine.model.batch import Group, Span, batches, lay_out
from app.engine.runner_protocol import Chunk, DecodeRow


def test_spans_come_first_then_single_rows_by_slot() -> None:
    batch = lay_out([Chunk(4, 10, [7, 8, 9], True)], [(3, 5, 1), (2, 6, 2)])
    assert batch.token_ids == [7, 8, 9, 2, 1]
    assert batch.slots == [4, 4, 4, 2, 3]
    assert batch.positions == [10, 11, 12, 6, 5]
    assert batch.spans == (Span(0, 4, 10, 13),)
    assert batch.groups == (Group(3, 2, (7, 6)),)
    assert batch.wanted == [2, 4, 3]


def test_neighbouring_slots_of_unlike_length_are_not_padded_to_each_other() -> None:
    batch = lay_out([], [(0, 10, 1), (1, 20, 1), (2, 900, 1), (4, 901, 1)])
    assert [group.lengths for group in batch.groups] == [(11, 21), (901,), (902,)]


def test_a_prompts_last_token_is_a_single_row_while_those_are_few() -> None:
    work = [Chunk(0, 0, [1, 2, 3], True), Chunk(1, 0, [4, 5], False)], [(2, 9, 6)]
    (batch,) = batches(*work, apart_rows=2, own_pass=False)
    assert batch.spans == (Span(0, 0, 0, 2), Span(2, 1, 0, 2))
    assert [(group.slot, group.lengths) for group in batch.groups] == [(0, (3,)), (2, (10,))]
    assert batch.wanted == [4, 5]
    assert batch.num_apart == 4, "the products take the prompts apart from the single rows"
    assert batches(*work, apart_rows=1, own_pass=False) == [lay_out(*work)]


def test_rows_that_are_few_in_all_are_multiplied_together() -> None:
    work = [Chunk(0, 0, [1, 2, 3], True)], [(2, 9, 6)]
    assert [b.num_apart for b in batches(*work, apart_rows=4, own_pass=False)] == [0]
    assert [b.num_apart for b in batches(*work, apart_rows=3, own_pass=False)] == [2]


def test_single_rows_take_a_pass_of_their_own_where_that_is_a_graph() -> None:
    work = [Chunk(0, 0, [1, 2, 3], True), Chunk(1, 0, [4, 5], False)], [(2, 9, 6)]
    assert batches(*work, apart_rows=2, own_pass=True) == [
        lay_out([Chunk(0, 0, [1, 2], False), Chunk(1, 0, [4, 5], False)], []),
        lay_out([Chunk(0, 2, [3], True)], [(2, 9, 6)]),
    ]


def test_work_without_prompts_or_without_single_rows_takes_one_pass() -> None:
    assert len(batches([], [(0, 3, 1)], 8, True)) == 1
    assert len(batches([Chunk(0, 3, [1], True)], [(1, 3, 1)], 8, True)) == 1
    assert len(batches([Chunk(0, 0, [1, 2], False)], [], 8, True)) == 1


@st.composite
def _work(draw: st.DrawFn) -> tuple[list[Chunk], list[DecodeRow]]:
    slots = draw(st.lists(st.integers(0, 30), unique=True, max_size=12))
    cut = draw(st.integers(0, len(slots)))
    tokens = st.lists(st.integers(0, 99), min_size=1, max_size=9)
    chunks = [Chunk(s, draw(st.integers(0, 500)), draw(tokens), draw(st.booleans())) for s in slots[:cut]]
    return chunks, [(s, draw(st.integers(0, 2000)), draw(st.integers(0, 99))) for s in slots[cut:]]


@given(work=_work(), apart=st.integers(0, 20), own=st.booleans())
def test_every_token_is_written_once_and_logits_come_in_the_order_asked(
    work: tuple[list[Chunk], list[DecodeRow]], apart: int, own: bool
) -> None:
    chunks, decode = work
    written: list[tuple[int, int, int]] = []
    for batch in batches(chunks, decode, apart, own):
        written += zip(batch.slots, batch.positions, batch.token_ids, strict=True)
        covered = [row for s in batch.spans for row in range(s.first, s.first + s.count)]
        covered += [row for g in batch.groups for row in range(g.first, g.first + len(g.lengths))]
        assert covered == list(range(len(batch.token_ids)))
        for group in batch.groups:
            for offset, length in enumerate(group.lengths):
                assert batch.slots[group.first + offset] == group.slot + offset
                assert batch.positions[group.first + offset] == length - 1
    right = [(c.slot, c.start + n, token) for c in chunks for n, token in enumerate(c.token_ids)]
    assert sorted(written) == sorted(right + decode)
    asked = [(c.slot, c.start + len(c.token_ids) - 1) for c in chunks if c.wants_logits]
    asked += [(slot, position) for slot, position, _ in decode]
    # Only the last pass wants logits.
    assert [(batch.slots[row], batch.positions[row]) for row in batch.wanted] == asked
