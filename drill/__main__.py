"""`python -m drill`: plays the cases one after another and prints one table; exit code 1: one failed.

`--write` puts the table between the marks in docs/reliability.md.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import os
import resource
import signal
import sys
import time
from pathlib import Path

from drill import network
from drill.case import HEAD, Case, Finding, NotPlayed, Scale, merged, row
from drill.cases import CASES

_DOCUMENT = Path(__file__).parents[1] / "docs" / "reliability.md"
_BEGIN, _END = "<!-- drill: begin -->", "<!-- drill: end -->"


def main() -> int:
    """Read the options, play, tell."""
    parser = argparse.ArgumentParser(prog="python -m drill", description=__doc__)
    parser.add_argument("--only", default="", help="cases, comma-separated, like F02,F08")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter")
    parser.add_argument(
        "--minutes", type=float, default=None, help="length of the soak; 5, or 1 with --quick"
    )
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    options = parser.parse_args()
    wanted = set(filter(None, options.only.upper().split(",")))
    if unknown := wanted - {case.id for case in CASES}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    if not network.enter():
        print("no network namespace can be had: cases that need a bad line are not played", file=sys.stderr)
    _raise_descriptor_limit()
    scale = Scale(options.quick, options.minutes)
    results = asyncio.run(_play([case for case in CASES if not wanted or case.id in wanted], scale))
    run = _run()
    rows = [row(case, finding, run) for case, finding in results]
    print("\n".join([*HEAD, *rows]))
    if options.write:
        _write(rows)
    return 1 if any(finding.passed is False for _, finding in results) else 0


# Private


async def _play(cases: list[Case], scale: Scale) -> list[tuple[Case, Finding]]:
    playing = asyncio.current_task()
    assert playing is not None
    # Whoever ends the drill ends the servers that it started.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, playing.cancel)
    aside = [asyncio.ensure_future(_found(case, scale)) for case in cases if case.aside]
    in_a_row = [await _found(case, scale) for case in cases if not case.aside]
    return [*in_a_row, *await asyncio.gather(*aside)]


async def _found(case: Case, scale: Scale) -> tuple[Case, Finding]:
    print(f"{case.id}: {case.criterion} …", file=sys.stderr, flush=True)
    began_s = time.monotonic()
    try:
        finding = await case.play(scale)
    except NotPlayed as error:
        finding = Finding(str(error), None)
    except Exception as error:  # the border: one case that breaks must not hide the others
        finding = Finding(f"{type(error).__name__}: {error}".replace("\n", " ")[:200], False)
    took_s = time.monotonic() - began_s
    print(f"{case.id}: {finding.measured} ({took_s:.0f} s)", file=sys.stderr, flush=True)
    return case, finding


def _raise_descriptor_limit() -> None:
    """A thousand clients are a thousand descriptors here too."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _run() -> str:
    """When this was played, how, and how busy the machine was by then."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    return f"{today}, `{' '.join(sys.argv[1:])}`, load {os.getloadavg()[1]:.0f} on {os.cpu_count()} cores"


def _write(rows: list[str]) -> None:
    document = _DOCUMENT.read_text()
    before, _, rest = document.partition(_BEGIN)
    old, _, after = rest.partition(_END)
    _DOCUMENT.write_text(f"{before}{_BEGIN}\n{merged(old, rows)}\n{_END}{after}")


if __name__ == "__main__":
    sys.exit(main())
