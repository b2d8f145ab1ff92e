"""Rows of a step: where each token sits, which rows attend together, whose logits are wanted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.engine.model.batch import Group, Span, lay_out, passes
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


def test_a_prompt_and_its_last_token_take_two_passes_while_rows_are_few() -> None:
    work = [Chunk(0, 0, [1, 2, 3], True), Chunk(1, 0, [4, 5], False)], [(2, 9, 6)]
    assert passes(*work, own_pass_rows=2) == [
        ([Chunk(0, 0, [1, 2], False), Chunk(1, 0, [4, 5], False)], []),
        ([Chunk(0, 2, [3], True)], [(2, 9, 6)]),
    ]
    assert passes(*work, own_pass_rows=1) == [work]


def test_work_without_prompts_or_without_single_rows_takes_one_pass() -> None:
    assert len(passes([], [(0, 3, 1)], 8)) == 1
    assert len(passes([Chunk(0, 3, [1], True)], [(1, 3, 1)], 8)) == 1
    assert len(passes([Chunk(0, 0, [1, 2], False)], [], 8)) == 1


@st.composite
def _work(draw: st.DrawFn) -> tuple[list[Chunk], list[DecodeRow]]:
    slots = draw(st.lists(st.integers(0, 30), unique=True, max_size=12))
    cut = draw(st.integers(0, len(slots)))
    tokens = st.lists(st.integers(0, 99), min_size=1, max_size=9)
    chunks = [Chunk(s, draw(st.integers(0, 500)), draw(tokens), draw(st.booleans())) for s in slots[:cut]]
    return chunks, [(s, draw(st.integers(0, 2000)), draw(st.integers(0, 99))) for s in slots[cut:]]


@given(work=_work(), own=st.integers(0, 20))
def test_every_token_is_written_once_and_logits_come_in_the_order_asked(
    work: tuple[list[Chunk], list[DecodeRow]], own: int
) -> None:
    chunks, decode = work
    written: list[tuple[int, int, int]] = []
    for each in passes(chunks, decode, own):
        batch = lay_out(*each)
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
