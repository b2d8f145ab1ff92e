"""F20's judge: Autobahn|Testsuite plays its cases against our WebSocket.

It is a program of Python 2 and is found as `wstest`, on the path or named by AUTOBAHN_WSTEST:
`python2.7 -m virtualenv DIR && DIR/bin/pip install autobahntestsuite`. Cases 12 and 13 (compression) are
left out, since we agree to none. Elsewhere `tests/faults/test_autobahn_cases.py` plays its groups.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from drill.case import Finding, NotPlayed, Scale
from drill.echo import echo_server

_MESSAGE_BYTES = 16_777_216
_SOUND = {"OK", "NON-STRICT", "INFORMATIONAL"}
#: The websockets library's own exception: it lets a close frame into a fragmented message.
_PUBLISHED = {"7.1.5"}


async def autobahn(scale: Scale) -> Finding:
    """All cases, or all but the large and long ones (9) when quick."""
    program = os.environ.get("AUTOBAHN_WSTEST") or shutil.which("wstest")
    if program is None:
        raise NotPlayed("wstest is not installed")
    async with echo_server(ws_max_bytes=_MESSAGE_BYTES) as port:
        with tempfile.TemporaryDirectory() as folder:
            specification = {
                "outdir": folder,
                "servers": [{"agent": "firstword", "url": f"ws://127.0.0.1:{port}/echo"}],
                "cases": ["*"],
                "exclude-cases": ["12.*", "13.*", *(["9.*"] if scale.quick else [])],
            }
            (Path(folder) / "specification.json").write_text(json.dumps(specification))
            process = await asyncio.create_subprocess_exec(
                program, "-m", "fuzzingclient", "-s", f"{folder}/specification.json",
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL, cwd=folder,
            )  # fmt: skip
            try:
                await process.wait()
            finally:
                if process.returncode is None:
                    process.kill()
            results = json.loads((Path(folder) / "index.json").read_text())["firstword"]
    behaviours = Counter(each["behavior"] for each in results.values())
    closes = Counter(each["behaviorClose"] for each in results.values())
    bad = {id for id, each in results.items() if {each["behavior"], each["behaviorClose"]} - _SOUND}
    return Finding(
        f"{len(results)} cases: {_told(behaviours)}; closing: {_told(closes)}; not sound: {sorted(bad)}",
        bad <= _PUBLISHED and len(results) > 200,
    )


# Private


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.most_common())
