"""A small question to the upstream: one exchange, bounded in time and in size.

It refuses to know what is asked and what an answer means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

from app.errors import EngineLost, UpstreamFailed
from app.upstream.address import Address, Patience

#: A list of models, a prompt's tokens, an error's page or a whole answer that was not streamed.
MAX_BODY_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    @property
    def good(self) -> bool:
        return 200 <= self.status < 300


async def ask(
    client: httpx.AsyncClient, address: Address, patience: Patience, url: str, json: Any = None
) -> Answer:
    """GET ``url``, or POST ``json`` to it.

    Raises EngineLost when nothing can be reached, TimeoutError when it is connected but silent,
    UpstreamFailed when the answer is too large.
    """
    timeout = httpx.Timeout(patience.question_s, connect=patience.connect_s)
    method = "GET" if json is None else "POST"
    try:
        async with client.stream(method, url, json=json, timeout=timeout) as response:
            return Answer(response.status_code, await bounded_body(response))
    except httpx.ReadTimeout:
        raise TimeoutError(f"{address.shown} did not answer within {patience.question_s:g} s") from None
    except httpx.RequestError as error:
        raise EngineLost(address.explain(error, patience)) from None


async def bounded_body(response: httpx.Response) -> bytes:
    """The whole body of a streamed response, up to MAX_BODY_BYTES. Raises UpstreamFailed beyond."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise UpstreamFailed(f"the upstream's answer is larger than {MAX_BODY_BYTES} bytes")
    return bytes(body)
