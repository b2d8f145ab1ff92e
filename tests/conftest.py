"""What tests share: a real server, in a thread for pages and as a task for wires."""

from __future__ import annotations

import functools
import os
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import hypothesis
import pytest

from tests.server import Running, run_server, run_server_in_thread

# As for the engine's own process (app.engine.child): read once, when torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "2000")

# Each httpx client, of which these tests make thousands, would read all the world's certificates anew, which
# takes longer than most of what it is made for.
ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]

# How long an example takes says more about who else uses the machine than about the code.
hypothesis.settings.register_profile("firstword", deadline=None)
hypothesis.settings.load_profile("firstword")


@pytest.fixture
async def serve() -> AsyncIterator[Callable[..., Any]]:
    """``await serve(engine, **settings)`` gives a running server on this event loop."""
    async with AsyncExitStack() as stack:

        async def start(*args: Any, **kwargs: Any) -> Running:
            return await stack.enter_async_context(run_server(*args, **kwargs))

        yield start


@pytest.fixture
def server() -> Iterator[Callable[..., Running]]:
    """``server(engine=…, **settings)`` gives a running server in a thread of its own."""
    with ExitStack() as stack:

        def start(*args: Any, **kwargs: Any) -> Running:
            return stack.enter_context(run_server_in_thread(*args, **kwargs))

        yield start
