"""One token out of a list of falling probabilities, and the chance that picks it.

Arithmetic that can be done with pencil and paper. This module refuses to know logits, tensors and
tokens: it deals in indices.
"""

from __future__ import annotations

import hashlib

import numpy as np

from app.prompt import Sampling


def choose(probabilities: np.ndarray, complete: bool, sampling: Sampling, chance: float) -> int | None:
    """The index drawn from ``probabilities``, which fall; None: more of them are needed.

    ``complete``: there are no others; else their sum lacks what the others have. min_p and top_k
    cut the list, then top_p what is left of it; ``chance`` in [0, 1) picks.
    """
    kept = len(probabilities)
    if sampling.min_p > 0:
        strong = int(np.count_nonzero(probabilities >= probabilities[0] * sampling.min_p))
        complete = complete or strong < kept
        kept = strong
    if sampling.top_k > 0:
        if sampling.top_k > kept and not complete:
            return None
        complete = True
        kept = min(kept, sampling.top_k)
    #: What the first and all up to here have together.
    mass = np.cumsum(probabilities[:kept])
    total = mass[-1] if complete else 1.0
    if sampling.top_p < 1:
        nucleus = int(np.searchsorted(mass, sampling.top_p * total)) + 1
        if nucleus > kept and not complete:
            return None
        complete, kept = True, min(nucleus, kept)
        total = mass[kept - 1]
    index = int(np.searchsorted(mass[:kept], chance * total, side="right"))
    if index < kept:
        return index
    # Rounding may leave a crumb behind the last one.
    return kept - 1 if complete else None


def chance(seed: int, num_made: int) -> float:
    """The number in [0, 1) that decides a sequence's token after ``num_made`` others."""
    digest = hashlib.blake2b(f"{seed}:{num_made}".encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53
