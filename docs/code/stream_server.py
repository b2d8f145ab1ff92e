"""A server that streams, as small as it can honestly be. Run it: python docs/code/stream_server.py"""

import asyncio
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

ANSWER = ["Because", "air", "scatters", "blue", "light", "much", "more", "than", "red", "light", "."]
PREFILL_S, STEP_S = 0.4, 0.05


# [model]
async def tokens() -> AsyncIterator[str]:
    """Stands for a model: it takes a model's times, and its answer is always the same."""
    await asyncio.sleep(PREFILL_S)  # the whole prompt is read in one long step ...
    for number, token in enumerate(ANSWER):
        if number:
            await asyncio.sleep(STEP_S)  # ... and then each token takes one short step
        yield token + " "


# [/model]


# [streamed]
async def streamed(request: Request) -> StreamingResponse:
    """Send each token when it is made."""
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(tokens(), media_type="text/plain; charset=utf-8", headers=headers)


# [/streamed]


# [whole]
async def whole(request: Request) -> PlainTextResponse:
    """Do the same work, and send it when it is finished."""
    return PlainTextResponse("".join([token async for token in tokens()]))


# [/whole]

app = Starlette(routes=[Route("/streamed", streamed), Route("/whole", whole)])

if __name__ == "__main__":
    uvicorn.run(app, port=8765, log_level="warning")
