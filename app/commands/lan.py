"""The local network's part of `firstword serve --lan`: where phones find us, and what that lets in.

It refuses to bind and to serve. Addresses and the terminal's abilities are passed in.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import segno

_EXPOSED = """\
From now on everybody on this network can open these addresses: they can chat with the model, use
/api and /v1 (FIRSTWORD_API_KEY asks programs for a key), and enter a room whose code they know.
They cannot open rooms, use a teacher's console, or read another phone's answers; no files are
shared. It is plain http: whoever runs this Wi-Fi can read along. Ctrl+C ends it."""


def lan_text(addresses: Sequence[str], name: str | None, port: int, *, blocks: bool) -> str:
    """What is printed; ``blocks``: it is a terminal that can show half blocks in colour, for the QR code."""
    if not addresses:
        return (
            "This machine has no address on a local network: join a Wi-Fi or open a hotspot, then start "
            "again.\n"
        )
    bases = [f"http://{address}:{port}" for address in addresses]
    lines = ["Phones join at:"]
    lines += [f"  {base}/join" for base in bases]
    if name is not None:
        lines.append(f"  http://{name}:{port}/join   (where the network knows names)")
    lines += ["", f"The teacher's console: http://127.0.0.1:{port}/teach", ""]
    picture = _picture(f"{bases[0]}/join") if blocks else ""
    return "\n".join(lines) + f"\n{picture}{_EXPOSED}\n"


# Private


def _picture(text: str) -> str:
    """A QR code in half blocks, dark on light as cameras expect it, with its quiet zone."""
    out = io.StringIO()
    segno.make(text, error="l", micro=False).terminal(out, border=4, compact=True)
    # The blocks are the light parts: white on black, said aloud, or a light terminal would invert it.
    return "".join(f"\x1b[97;40m{line}\x1b[0m\n" for line in out.getvalue().splitlines()) + "\n"
