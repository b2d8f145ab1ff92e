"""Report: a result as Markdown tables, with every formula beside its numbers. Pure.

The generated part of RESULTS.md stands between two marks, so that what people wrote around it
stays. It refuses to know how anything was measured.
"""

from __future__ import annotations

from collections.abc import Sequence

from bench.bar import verdicts
from bench.formulas import DEFINITIONS, Cell, ratio
from bench.result import PeerResult, Result

BEGIN = "<!-- written by `make bench`: begin -->"
END = "<!-- written by `make bench`: end -->"


def markdown(result: Result, base: str | None = None) -> str:
    """The whole report; ``base`` begins the name of the peer that ratios are taken to."""
    against = _base(result, base)
    parts = [_heading(result), _cells(result), _servers(result)]
    if against is not None:
        parts.append(_ratios(result, against))
    parts += [_bar(result), _scenes(result), _absent(result), _formulas()]
    return "\n\n".join(part for part in parts if part) + "\n"


def replaced(document: str, generated: str) -> str:
    """``document`` with its generated part exchanged; appended when there is none yet."""
    part = f"{BEGIN}\n\n{generated}\n{END}"
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if begin and end:
        return before + part + after
    return f"{document.rstrip()}\n\n{part}\n".lstrip()


def progress(peer: str, cell: Cell) -> str:
    """One line for the terminal while the run goes on."""
    return (
        f"{peer:<40} {cell.kind:<5} {cell.users:>2} users  "
        f"TTFT {_n(cell.ttft_p50_ms, 0)}/{_n(cell.ttft_p95_ms, 0)} ms  gaps {_n(cell.gap_p50_ms)}/"
        f"{_n(cell.gap_p95_ms)}/{_n(cell.gap_p99_ms)} ms  {_n(cell.tokens_per_s)} tokens/s  "
        f"{cell.ok}/{cell.requests}" + (f"  {cell.error}" if cell.error else "")
    )


# Private


def _heading(result: Result) -> str:
    m = result.machine
    return (
        f"## {m.date}\n\n{m.cpu}, {m.cores} cores ({m.flags}), {m.system}; Python {m.python}; {m.packages}. "
        f"Load average when it began: {m.load:g}. {result.tokens} tokens an answer, temperature 0, "
        "end-of-text ignored, all prompts different, closed loop, all users start together; the client runs "
        "on the same cores."
    )


def _cells(result: Result) -> str:
    rows = [
        (
            peer.name, cell.kind, str(cell.users), _pair(cell.ttft_p50_ms, cell.ttft_p95_ms, places=0),
            _pair(cell.gap_p50_ms, cell.gap_p95_ms, cell.gap_p99_ms), _n(cell.tokens_per_s),
            _n(cell.tokens_per_piece, 2), f"{cell.ok}/{cell.requests}",
        )
        for kind, users in _keys(result)
        for peer in result.peers
        if (cell := peer.cell(kind, users)) is not None
    ]  # fmt: skip
    head = (
        "server",
        "prompt",
        "users",
        "TTFT p50 / p95 ms",
        "gap p50 / p95 / p99 ms",
        "tokens/s",
        "tok/piece",
        "ok",
    )
    return "### Cells\n\n" + _table(head, rows)


def _servers(result: Result) -> str:
    rows = [
        (
            p.name,
            p.weights,
            _n(p.cold_start_s, 2),
            _n(p.memory_mb, 0),
            p.note or ("in process" if p.in_process else ""),
        )
        for p in result.peers
    ]
    return "### Start and memory\n\n" + _table(
        ("server", "weights", "cold start s", "memory MB", "note"), rows
    )


def _ratios(result: Result, base: PeerResult) -> str:
    rows = []
    for kind, users in _keys(result):
        theirs = base.cell(kind, users)
        for peer in result.peers:
            own = peer.cell(kind, users)
            if own is None or theirs is None or peer is base:
                continue
            pairs = [
                (own.ttft_p50_ms, theirs.ttft_p50_ms), (own.gap_p50_ms, theirs.gap_p50_ms),
                (own.gap_p99_ms, theirs.gap_p99_ms), (own.tokens_per_s, theirs.tokens_per_s),
            ]  # fmt: skip
            rows.append((peer.name, kind, str(users), *(_n(ratio(a, b), 2) for a, b in pairs)))
    if not rows:
        return ""
    head = ("server", "prompt", "users", "TTFT p50", "gap p50", "gap p99", "tokens/s")
    return f"### Ratios to {base.name}\n\n" + _table(head, rows)


def _bar(result: Result) -> str:
    rows = [
        (
            v.promise,
            v.limit,
            _n(v.value, 2),
            {True: "kept", False: "**missed**", None: "not judged"}[v.kept],
            v.note,
        )
        for v in verdicts(result)
    ]
    return "### The bar\n\n" + _table(("promise", "limit", "now", "", "from"), rows) if rows else ""


def _scenes(result: Result) -> str:
    rows = [
        (
            scene.name,
            peer.name,
            f"{_n(scene.value, 2)} {scene.unit}" if scene.value is not None else "–",
            scene.note,
        )
        for peer in result.peers
        for scene in peer.scenes
    ]
    if not rows:
        return ""
    formulas = {scene.name: scene.formula for peer in result.peers for scene in peer.scenes}
    told = "\n".join(f"- {name} = {formula}" for name, formula in formulas.items())
    return "### Scenes\n\n" + _table(("scene", "server", "value", "note"), sorted(rows)) + "\n\n" + told


def _absent(result: Result) -> str:
    return "### Not run\n\n" + "\n".join(f"- {n}: {why}" for n, why in result.absent) if result.absent else ""


def _formulas() -> str:
    return "### Formulas\n\n" + "\n".join(f"- {definition}" for definition in DEFINITIONS)


def _base(result: Result, name: str | None) -> PeerResult | None:
    """The peer named; else the first that is not ours."""
    if name is not None:
        return result.peer(name)
    return result.peers[1] if len(result.peers) > 1 else None


def _keys(result: Result) -> list[tuple[str, int]]:
    keys = dict.fromkeys((cell.kind, cell.users) for peer in result.peers for cell in peer.cells)
    order = {"short": 0, "long": 1}
    return sorted(keys, key=lambda key: (order.get(key[0], 2), key[1]))


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    # A bar or a line's end in a note (an error's text) would break the table.
    return "\n".join(
        "| " + " | ".join(" ".join(c.replace("|", "/").split()) for c in row) + " |" for row in lines
    )


def _pair(*values: float | None, places: int = 1) -> str:
    return " / ".join(_n(value, places) for value in values)


def _n(value: float | None, places: int = 1) -> str:
    return "–" if value is None else f"{value:.{places}f}"
