"""A server of five words. It collects them first, to send a proper Content-Length."""

import asyncio
from typing import Any


async def app(scope: Any, receive: Any, send: Any) -> None:
    pieces = []
    for word in ("one ", "two ", "three ", "four ", "five"):
        await asyncio.sleep(0.05)
        pieces.append(word.encode())
    length = str(sum(map(len, pieces))).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
    for piece in pieces:
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})
