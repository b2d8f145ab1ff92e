"""One step's work as rows: which token sits where, and who attends to what. Pure bookkeeping.

Tokens of prompts' pieces and of running sequences alike are rows of one matrix, so that a weight
is read once for all. Attention alone needs to know whose rows they are: a ``Span`` is a piece of
one prompt, a ``Group`` single rows whose slots are neighbours and which are computed in one
strided batch. A few single rows keep their own operators (see ``batches``). It refuses to know torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.engine.runner_protocol import Chunk, DecodeRow

#: Positions read for nothing that cost as much as starting the attention operators once more
#: (some 60 microseconds a layer on AVX2). Rows are grouped while padding stays below.
_PADDING_PER_ROW = 192


@dataclass(frozen=True, slots=True)
class Span:
    """Rows ``first``.. hold positions ``start``..``end`` of ``slot``."""

    first: int
    slot: int
    start: int
    end: int

    @property
    def count(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Group:
    """Rows ``first``.. hold one token each, of the slots ``slot``, ``slot + 1``...

    ``lengths``: how many positions each row attends to, itself included.
    """

    first: int
    slot: int
    lengths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows in order: all spans, then all groups. ``wanted``: the rows whose logits are returned.

    ``num_apart``: the products take so many rows at the beginning apart from the others.
    """

    token_ids: list[int]
    slots: list[int]
    positions: list[int]
    spans: tuple[Span, ...]
    groups: tuple[Group, ...]
    wanted: list[int]
    num_apart: int = 0


def batches(
    chunks: Sequence[Chunk], decode: Sequence[DecodeRow], apart_rows: int, own_pass: bool
) -> list[Batch]:
    """One step's work as one forward pass, or two; the last one alone wants logits.

    A prompt's last token is a single row, apart from the rest of its piece, so that it is computed
    by the very operators that compute it when the rest is a cached prefix, and a running sequence
    by the same whether somebody else's prompt is being read or not. In rounded arithmetic the same
    prompt asked twice would else get another text, sooner or later. With more than ``apart_rows``
    single rows reading the weights twice costs more than that is worth. ``own_pass`` gives single
    rows a pass of their own, for devices on which such a pass is a recorded graph.
    """
    ending = [chunk for chunk in chunks if chunk.wants_logits]
    bodies = [_without_last(chunk) if chunk.wants_logits else chunk for chunk in chunks]
    bodies = [chunk for chunk in bodies if chunk.token_ids]
    if not bodies or not 0 < len(ending) + len(decode) <= apart_rows:
        return [lay_out(chunks, decode)]
    ends = [_last(chunk) for chunk in ending]
    if own_pass:
        return [lay_out(bodies, []), lay_out(ends, decode)]
    return [lay_out([*bodies, *ends], decode, apart_rows)]


def lay_out(chunks: Sequence[Chunk], decode: Sequence[DecodeRow], apart_rows: int | None = None) -> Batch:
    """Rows for ``chunks`` and ``decode``; ``wanted`` lists chunks first, in the order given.

    ``apart_rows``: so many rows take the operators of single rows; with more, spans are apart.
    None: all rows are multiplied together.
    """
    batch = Batch([], [], [], (), (), [])
    spans: list[Span] = []
    singles: list[tuple[int, int, int, int | None]] = []  # slot, position, token, place in the answer
    answers = 0
    row_of: dict[int, int] = {}
    for chunk in chunks:
        place = answers if chunk.wants_logits else None
        answers += chunk.wants_logits
        if len(chunk.token_ids) == 1:
            singles.append((chunk.slot, chunk.start, chunk.token_ids[0], place))
            continue
        first, count = len(batch.token_ids), len(chunk.token_ids)
        spans.append(Span(first, chunk.slot, chunk.start, chunk.start + count))
        batch.token_ids.extend(chunk.token_ids)
        batch.slots.extend([chunk.slot] * count)
        batch.positions.extend(range(chunk.start, chunk.start + count))
        if place is not None:
            row_of[place] = first + count - 1
    singles.extend((slot, position, token, answers + n) for n, (slot, position, token) in enumerate(decode))
    singles.sort(key=lambda single: single[0])
    first_single = len(batch.token_ids)
    for slot, position, token, place in singles:
        if place is not None:
            row_of[place] = len(batch.token_ids)
        batch.token_ids.append(token)
        batch.slots.append(slot)
        batch.positions.append(position)
    groups = _grouped(first_single, [(slot, position + 1) for slot, position, _, _ in singles])
    wanted = [row_of[place] for place in range(len(row_of))]
    together = apart_rows is None or len(batch.token_ids) <= apart_rows
    num_apart = 0 if together else first_single
    return Batch(batch.token_ids, batch.slots, batch.positions, tuple(spans), groups, wanted, num_apart)


# Private


def _without_last(chunk: Chunk) -> Chunk:
    return Chunk(chunk.slot, chunk.start, chunk.token_ids[:-1], wants_logits=False)


def _last(chunk: Chunk) -> Chunk:
    return Chunk(chunk.slot, chunk.start + len(chunk.token_ids) - 1, chunk.token_ids[-1:], wants_logits=True)


def _grouped(first: int, rows: Sequence[tuple[int, int]]) -> tuple[Group, ...]:
    """(slot, length) in order of slot, into runs of neighbouring slots of similar length."""
    groups: list[Group] = []
    run: list[tuple[int, int]] = []
    for row in rows:
        if run and (row[0] != run[-1][0] + 1 or _padding([*run, row]) > _padding(run) + _PADDING_PER_ROW):
            groups.append(_group(first, run))
            first += len(run)
            run = []
        run.append(row)
    if run:
        groups.append(_group(first, run))
    return tuple(groups)


def _group(first: int, run: Sequence[tuple[int, int]]) -> Group:
    return Group(first, run[0][0], tuple(length for _, length in run))


def _padding(run: Sequence[tuple[int, int]]) -> int:
    lengths = [length for _, length in run]
    return max(lengths) * len(lengths) - sum(lengths)
