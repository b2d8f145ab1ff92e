"""Reference: figures of servers from another machine, scaled to this one by a peer that ran on both.

vLLM on CPU and llama.cpp cannot be had everywhere. Both were measured once, with the default model,
96 tokens and as many users, on two x86-64 cores with AVX-512 and bf16 instructions (which the one
they are scaled to may lack: an estimate, and marked so). Per cell and metric:

    estimate = their figure there × (the anchor's figure here ÷ the anchor's figure there)

Pure; it refuses to know the bar.
"""

from __future__ import annotations

from bench.formulas import Cell, ratio
from bench.result import PeerResult, Result

#: TTFT p50 ms, gap p50 ms, tokens/s over all users.
_Figures = tuple[float, float, float]
_MEASURED: dict[str, dict[tuple[str, int], _Figures]] = {
    "llama.cpp Q8_0": {
        ("short", 1): (80, 7.3, 123), ("short", 4): (267, 18, 188),
        ("short", 8): (509, 26, 249), ("short", 16): (767, 41, 309),
        ("long", 1): (905, 9.5, 52), ("long", 4): (2824, 26, 62),
        ("long", 8): (3982, 49, 66), ("long", 16): (6695, 70, 69),
    },
    "vLLM on CPU, bf16": {
        ("short", 1): (53, 22, 44), ("short", 4): (138, 21, 176),
        ("short", 8): (284, 25, 283), ("short", 16): (522, 34, 385),
        ("long", 1): (477, 23, 36), ("long", 4): (1749, 27, 86),
        ("long", 8): (1921, 32, 116), ("long", 16): (2973, 49, 131),
    },
    "transformers serve, continuous batching": {
        ("short", 1): (186, 64, 15), ("short", 4): (413, 106, 31),
        ("short", 8): (846, 123, 58), ("short", 16): (2064, 171, 74),
        ("long", 1): (1076, 68, 12), ("long", 4): (7652, 160, 17),
        ("long", 8): (20384, 251, 17), ("long", 16): (58172, 479, 14),
    },
}  # fmt: skip
#: The better anchor first: the steadier on both machines.
_ANCHORS = ("llama.cpp Q8_0", "transformers serve, continuous batching")
_ABSENT = ("llama.cpp Q8_0", "vLLM on CPU, bf16")


def estimates(result: Result) -> list[PeerResult]:
    """The servers that were not run here, as they would have done; none without an anchor."""
    anchor = next((peer for name in _ANCHORS if (peer := result.peer(name)) is not None), None)
    if anchor is None:
        return []
    there = _MEASURED[next(name for name in _ANCHORS if anchor.name.startswith(name))]
    return [
        _scaled(name, anchor, there, result.tokens)
        for name in _ABSENT
        if result.peer(name.split(",")[0].split(" ")[0]) is None
    ]


# Private


def _scaled(name: str, anchor: PeerResult, there: dict[tuple[str, int], _Figures], tokens: int) -> PeerResult:
    found = PeerResult(f"{name} (estimate)", "", note=f"scaled by {anchor.name}; not run here")
    if tokens != 96:
        found.note += "; no cells: the figures are for 96 tokens"
        return found
    for cell in anchor.cells:
        key = (cell.kind, cell.users)
        if key not in there:
            continue
        here = (cell.ttft_p50_ms, cell.gap_p50_ms, cell.tokens_per_s)
        factors = [ratio(mine, old) for mine, old in zip(here, there[key], strict=True)]
        ttft, gap, speed = (
            None if factor is None else figure * factor
            for figure, factor in zip(_MEASURED[name][key], factors, strict=True)
        )
        found.cells.append(Cell(*key, 0, 0, ttft, None, gap, None, None, speed, None))
    return found
