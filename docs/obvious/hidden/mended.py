"""A server of five words. Nobody knows the length of what is not made yet: chunks need none."""

import asyncio
from typing import Any


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for word in ("one ", "two ", "three ", "four ", "five"):
        await asyncio.sleep(0.05)
        await send({"type": "http.response.body", "body": word.encode(), "more_body": True})
    await send({"type": "http.response.body"})
