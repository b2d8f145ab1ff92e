"""The next token of every row, drawn as its own prompt asks.

Greedy rows share one argmax. The others share one look at their likeliest tokens, and the rest is
arithmetic on a short list (choice). Chance is counted, not kept: the number drawn depends on
the sequence's seed and on how many tokens it has made, so neighbours, pauses and a lost KV cannot
change a text. One row's failure is that row's result. This module refuses to know text and time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from app.engine.choice import chance, choose
from app.errors import EngineFailed, FirstwordError
from app.prompt import Sampling

#: Likeliest tokens looked at first; they nearly always decide. Else it is all of them.
_FIRST_LOOK = 64
#: Below this, logits divided by the temperature may overflow float32, and it is greedy anyway.
_GREEDY_BELOW = 1e-4


@dataclass(frozen=True, slots=True)
class Row:
    """What the sampler must know of one sequence.

    ``banned`` tokens cannot be drawn (the end of sequence before ``min_tokens``).
    """

    sampling: Sampling
    seed: int
    token_ids: Sequence[int]
    num_prompt: int
    banned: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Drawn:
    """A token; its log-probability and the likeliest alternatives, when asked for.

    Both are the model's own: before temperature, penalties and bias.
    """

    token_id: int
    logprob: float | None = None
    top: tuple[tuple[int, float], ...] = ()


@torch.inference_mode()
def draw(logits: torch.Tensor, rows: Sequence[Row]) -> list[Drawn | FirstwordError]:
    """One result a row of ``logits`` [rows, vocab], float32. Overwrites ``logits``."""
    assert logits.shape[0] == len(rows)
    raw = {i: logits[i].log_softmax(0) for i, row in enumerate(rows) if row.sampling.logprobs is not None}
    results: list[int | FirstwordError | None] = [_adjust(logits[i], row) for i, row in enumerate(rows)]
    sound = [i for i, result in enumerate(results) if result is None]
    greedy = [i for i in sound if rows[i].sampling.temperature < _GREEDY_BELOW]
    random = [i for i in sound if rows[i].sampling.temperature >= _GREEDY_BELOW]
    if greedy:
        for i, result in zip(greedy, _likeliest(_rows_of(logits, greedy)), strict=True):
            results[i] = result
    if random:
        some = _rows_of(logits, random)
        for i, result in zip(random, _draw_random(some, [rows[i] for i in random]), strict=True):
            results[i] = result
    return [_report(result, raw.get(i), rows[i]) for i, result in enumerate(results)]


# Private


def _rows_of(logits: torch.Tensor, indices: list[int]) -> torch.Tensor:
    return logits if len(indices) == logits.shape[0] else logits[indices]


def _adjust(row_logits: torch.Tensor, row: Row) -> FirstwordError | None:
    """Apply penalties, bias and bans in place; None when that went well."""
    s = row.sampling
    try:
        if s.repetition_penalty != 1.0:
            ids = torch.tensor(sorted(set(row.token_ids)), device=row_logits.device)
            seen = row_logits[ids]
            row_logits[ids] = torch.where(seen > 0, seen / s.repetition_penalty, seen * s.repetition_penalty)
        made = row.token_ids[row.num_prompt :] if s.presence_penalty or s.frequency_penalty else ()
        if made:
            counts = Counter(made)
            amounts = [s.presence_penalty + s.frequency_penalty * n for n in counts.values()]
            _add(row_logits, list(counts), [-amount for amount in amounts])
        if s.logit_bias:
            _add(row_logits, list(s.logit_bias), list(s.logit_bias.values()))
        for id in row.banned:
            row_logits[id] = -math.inf
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return EngineFailed(f"The sampling options could not be applied: {error}.")
    return None


def _add(row_logits: torch.Tensor, token_ids: list[int], amounts: list[float]) -> None:
    ids = torch.tensor(token_ids, device=row_logits.device)
    row_logits[ids] += torch.tensor(amounts, dtype=row_logits.dtype, device=row_logits.device)


def _likeliest(logits: torch.Tensor) -> list[int | FirstwordError]:
    """The likeliest token of each row, the first of equals; one transfer from the device."""
    if logits.device.type == "cpu":
        # After a step all code is cold, and each of torch's operators costs as much as this in all.
        array = logits.numpy()
        table = [(float(row[id]), id) for row, id in zip(array, array.argmax(1), strict=True)]
    else:
        values, ids = logits.max(1)
        # Ids travel as floats beside the values: exact up to 2^24 tokens, and one wait, not two.
        table = torch.stack((values, ids.to(values.dtype)), 1).tolist()
    return [int(id) if math.isfinite(value) else _not_a_number() for value, id in table]


def _draw_random(logits: torch.Tensor, rows: list[Row]) -> list[int | FirstwordError]:
    temperatures = torch.tensor([row.sampling.temperature for row in rows], device=logits.device)
    scaled = logits / temperatures[:, None]
    look = min(_FIRST_LOOK, scaled.shape[1])
    values, ids = scaled.topk(look)
    best = values[:, :1]
    # Not logsumexp: exp of very negative numbers, most of a row at a low temperature, is ten times
    # slower on a CPU. Below e^-80 of the best nothing counts.
    log_total = (scaled - best).clamp_(min=-80).exp_().sum(1, keepdim=True).log_() + best
    # [rows, 1 + 2 * look] in one transfer
    table = torch.cat((log_total, values, ids.to(values.dtype)), 1).cpu().numpy()
    results: list[int | FirstwordError] = []
    for i, (row, told) in enumerate(zip(rows, table, strict=True)):
        total, some, some_ids = told[0], told[1 : 1 + look], told[1 + look :]
        if not (math.isfinite(total) and math.isfinite(some[0])):
            results.append(_not_a_number())
            continue
        number = chance(row.seed, len(row.token_ids) - row.num_prompt)
        probabilities = np.exp(some.astype(np.float64) - total)
        index = choose(probabilities, look == scaled.shape[1], row.sampling, number)
        results.append(_look_at_all(scaled[i], row, number) if index is None else int(some_ids[index]))
    return results


def _look_at_all(scaled: torch.Tensor, row: Row, number: float) -> int:
    """The likeliest few did not decide, as happens at high temperatures.

    Numbers alone are sorted, without their places: that is five times as fast.
    """
    logits = scaled.cpu().numpy()
    falling = -np.sort(-logits)
    weights = np.exp(falling.astype(np.float64) - falling[0])
    rank = choose(weights / weights.sum(), True, row.sampling, number)
    assert rank is not None, "a complete list always decides"
    equals = np.flatnonzero(logits == falling[rank])
    return int(equals[rank - np.searchsorted(-falling, -falling[rank])])


def _report(
    result: int | FirstwordError | None, raw: torch.Tensor | None, row: Row
) -> Drawn | FirstwordError:
    assert result is not None
    if isinstance(result, FirstwordError):
        return result
    if raw is None:
        return Drawn(result)
    top: tuple[tuple[int, float], ...] = ()
    if row.sampling.logprobs:
        values, ids = raw.topk(min(row.sampling.logprobs, raw.shape[0]))
        top = tuple(zip(ids.tolist(), values.tolist(), strict=True))
    return Drawn(result, float(raw[result]), top)


def _not_a_number() -> FirstwordError:
    return EngineFailed("The model's output is not a number (NaN or infinite logits).")
