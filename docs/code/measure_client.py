"""A client that measures. Run it: python docs/code/measure_client.py http://127.0.0.1:8765/streamed"""

import asyncio
import sys
import time

import httpx


# [measure]
async def measure(url: str) -> list[tuple[float, str]]:
    """(seconds since the request was sent, text) for every piece that arrives."""
    arrivals = []
    async with httpx.AsyncClient(timeout=60) as client:
        sent_s = time.monotonic()  # a clock that is never set
        async with client.stream("GET", url) as response:
            async for text in response.aiter_text():
                if text:
                    arrivals.append((time.monotonic() - sent_s, text))
    return arrivals


# [/measure]


# [numbers]
def numbers(arrivals: list[tuple[float, str]]) -> str:
    """First word, last word, and the gaps between: three different things."""
    times = [at_s for at_s, _ in arrivals]
    gaps = sorted(after - before for before, after in zip(times, times[1:], strict=False))
    middle = f"{gaps[len(gaps) // 2] * 1000:.0f} ms" if gaps else "none"
    first_and_last = f"first word {times[0]:.2f} s, last word {times[-1]:.2f} s"
    return f"{first_and_last}, {len(times)} arrivals, middle gap {middle}"


# [/numbers]

if __name__ == "__main__":
    print(numbers(asyncio.run(measure(sys.argv[1]))))
