"""gRPC (extra ``grpc``): ``firstword.v1.Generation``, server-streaming, on its own port.

A call of ``Generate`` is one reply: its deadline and its cancellation stop the generation. The next event is
taken when the transport has taken the last one, so the reader's progress follows the transport's
windows. Requests pass the same intake as JSON. It refuses to know what the fields mean and what
the messages look like (grpc_messages). Browsers cannot speak gRPC, so there is no Origin to check.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, NoReturn

import grpc
import grpc.aio

from app.errors import FirstwordError, SlowConsumer, StartupError, from_code
from app.events import Error
from app.intake.fields import Fields
from app.reply.log import Reply
from app.reply.reader import Reader
from app.reply.registry import Replies
from app.settings import Settings
from app.transports.grpc_messages import (
    SERVICE,
    AttachRequest,
    GenerateRequest,
    start_fields,
    to_message,
)
from app.transports.guard import bracketed, check_key
from app.transports.reading import Reading, Start, read_attach, read_start


class GrpcServer:
    """The listening end. ``port`` 0: the system chooses; ``port`` tells which after ``start``."""

    def __init__(self, replies: Replies, settings: Settings, host: str, port: int) -> None:
        self.host = host
        self.port = port
        self._replies = replies
        self._settings = settings
        self._server: Any = None

    async def start(self) -> None:
        """Listen. Raises StartupError when the port is taken."""
        self._server = grpc.aio.server(
            options=[
                # Else a second server shares the port silently, and each gets half of the calls.
                ("grpc.so_reuseport", 0),
                ("grpc.max_receive_message_length", self._settings.max_body_bytes),
                # A peer that lost its network says nothing: only an unanswered ping tells.
                ("grpc.keepalive_time_ms", round(self._settings.heartbeat_s * 1000)),
                ("grpc.keepalive_timeout_ms", round(self._settings.send_s * 1000)),
            ],
            maximum_concurrent_rpcs=self._settings.max_replies,
        )
        methods = {
            name: grpc.unary_stream_rpc_method_handler(
                handle,
                request_deserializer=request.FromString,
                response_serializer=lambda message: message.SerializeToString(),
            )
            for name, handle, request in (
                ("Generate", self._generate, GenerateRequest),
                ("Attach", self._attach, AttachRequest),
            )
        }
        self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
        host = bracketed(self.host)
        try:
            self.port = self._server.add_insecure_port(f"{host}:{self.port}")
        except RuntimeError:
            raise StartupError(
                f"gRPC cannot listen on {host}:{self.port}: is another program using that port?"
            ) from None
        await self._server.start()

    async def stop(self) -> None:
        """Take no more calls, let running ones end for ``drain_s``, then cancel them."""
        if self._server is not None:
            await self._server.stop(self._settings.drain_s)

    # Private

    async def _generate(self, request: Any, context: Any) -> None:
        try:
            self._check_key(context)
            start = read_start(Fields(start_fields(request)), self._settings)
            reply = self._begin(start)
        except FirstwordError as error:
            await _refuse(context, error)
        await self._read(reply, start.reading, context)

    async def _attach(self, request: Any, context: Any) -> None:
        try:
            self._check_key(context)
            id, reading = read_attach(Fields(start_fields(request)))
            reply = self._replies.get(id)
        except FirstwordError as error:
            await _refuse(context, error)
        await self._read(reply, reading, context)

    async def _read(self, reply: Reply, reading: Reading, context: Any) -> None:
        reader = reply.attach(reading.pace, after=reading.after)
        try:
            await reply.opened()
            await self._relay(reader, context)
        except FirstwordError as error:
            reader.close()
            await self._refuse_in_time(context, error)
        finally:
            reader.close()

    def _check_key(self, context: Any) -> None:
        if self._settings.api_key:
            metadata = context.invocation_metadata() or ()
            check_key(self._settings.api_key, [(_raw(name), _raw(value)) for name, value in metadata])

    async def _relay(self, reader: Reader, context: Any) -> None:
        """Write every event; raises the error that ended the reply, after its event."""
        seconds = self._settings.send_s
        async for event in reader:
            try:
                async with asyncio.timeout(seconds):
                    await context.write(to_message(event))
            except TimeoutError:
                raise SlowConsumer(f"The client did not take an event for {seconds:g} s.") from None
            if isinstance(event, Error):
                raise from_code(event.code, event.message, event.param)

    async def _refuse_in_time(self, context: Any, error: FirstwordError) -> None:
        # A status waits behind the messages before it, and to a client that does not read it would
        # wait for ever. Leaving the call hands the little that is in flight over to gRPC, which keeps
        # it until the client reads on or goes.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.send_s):
                await _refuse(context, error)

    def _begin(self, start: Start) -> Reply:
        return self._replies.start(
            start.prompt,
            client_id=start.id,
            resumable=False,
            await_readers=start.await_readers,
            slow_policy=start.slow_policy,
        )


def status_of(error: FirstwordError) -> Any:
    """The status code that says it best."""
    code = _CODES.get(error.code)
    return code if code is not None else _STATUSES.get(error.status, grpc.StatusCode.INTERNAL)


# Private

_CODES = {
    "overloaded": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "out_of_memory": grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_STATUSES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    404: grpc.StatusCode.NOT_FOUND,
    408: grpc.StatusCode.ABORTED,
    413: grpc.StatusCode.INVALID_ARGUMENT,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    502: grpc.StatusCode.UNAVAILABLE,
    503: grpc.StatusCode.UNAVAILABLE,
}


async def _refuse(context: Any, error: FirstwordError) -> NoReturn:
    metadata = [("firstword-code", error.code)]
    if error.param is not None:
        # Metadata is ASCII; a field's name that is not was the caller's own invention.
        metadata.append(("firstword-param", error.param.encode("ascii", "replace").decode()))
    if error.retry_after_s is not None:
        metadata.append(("firstword-retry-after-s", str(error.retry_after_s)))
    await context.abort(status_of(error), error.message, tuple(metadata))
    raise AssertionError("abort raises")


def _raw(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("latin-1", "replace")
