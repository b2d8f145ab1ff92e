"""All replies of this server: started once, found by id, expired in time.

It is the line at the door (bounded, then Overloaded), makes ``start`` idempotent by the client's
id, holds a generation until its readers are there (the fair race), keeps finished replies for the
resume window, and drains at shutdown. It refuses to know wires and what is in a prompt.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import msgspec

from app.errors import BadRequest, FirstwordError, NotFound, Overloaded, ServerShutdown
from app.events import AnyEvent
from app.generation import Engine
from app.prompt import Prompt
from app.reply.flow import Delivery, SlowPolicy
from app.reply.log import Reply
from app.settings import Settings

#: From so many characters on a client's own id is taken for one that nobody guesses, as ours are.
SECRET_ID_CHARS = 16


class Replies:
    """The registry. Bounds: ``max_waiting`` in line, ``max_replies`` kept, ``resume_s`` each."""

    def __init__(
        self, engine: Engine, settings: Settings, now_ns: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self.engine = engine
        self.draining = False
        #: Set when the drain is over: whoever keeps connections open says goodbye on them.
        self.drained = asyncio.Event()
        #: Called for every event of every reply: the meters listen here.
        self.on_event: Callable[[Reply, AnyEvent], None] = lambda reply, event: None
        self._settings = settings
        self._now_ns = now_ns
        self._replies: dict[str, Reply] = {}
        self._by_client_id: dict[str, Reply] = {}
        self._holds: dict[str, tuple[int, asyncio.TimerHandle]] = {}
        self._expiries: dict[str, asyncio.TimerHandle] = {}

    def start(
        self,
        prompt: Prompt,
        *,
        client_id: str | None = None,
        resumable: bool = True,
        await_readers: int = 0,
        slow_policy: SlowPolicy | None = None,
        engine: Engine | None = None,
    ) -> Reply:
        """Start a reply, or find the one that this ``client_id`` has started with the same prompt.

        With another prompt it starts a new one: people who never met choose the same short ids.
        ``engine`` generates it, a recording's player for example; None: the server's own.
        Attach a reader before awaiting anything: what nobody reads is not waited for. Raises
        Overloaded, EngineLoading, EngineLost or ServerShutdown; nothing has been started then.
        """
        known = self._by_client_id.get(client_id) if client_id is not None else None
        engine = engine or self.engine
        if known is not None and known.engine is engine and _same_work(known.prompt, prompt):
            return known
        self._make_room()
        policy = slow_policy or self._settings.slow_policy
        delivery = Delivery(
            self._settings.high_tokens,
            self._settings.low_tokens,
            self._settings.stall_s,
            self._settings.resume_s if resumable else 0.0,
            policy,  # type: ignore[arg-type]  # settings have checked it
        )
        prompt = _with_grant(prompt, delivery)
        reply = Reply(prompt, engine, delivery, self._now_ns, client_id=client_id, on_event=self._tell)
        reply.on_readers = self._readers_changed
        if await_readers > 1:
            self._hold(reply, await_readers)
        else:
            reply.submit()
        self._replies[reply.id] = reply
        if client_id is not None:
            self._by_client_id[client_id] = reply
        # One whose starter fails before attaching a reader must not stay for ever.
        self._expire_in(reply, reply.delivery.resume_s or self._settings.await_readers_s)
        return reply

    def get(self, id: str) -> Reply:
        """The reply by its own id, or by its client's where that has ``SECRET_ID_CHARS``.

        Whoever has the name may read and stop it, so a short one names nothing. Raises NotFound.
        """
        reply = self._replies.get(id)
        if reply is None and len(id) >= SECRET_ID_CHARS:
            reply = self._by_client_id.get(id)
        if reply is None:
            why = f"no reply {id[:64]!r}: it never was, or its time is over"
            if len(id) < SECRET_ID_CHARS:
                why += f" (a client's own id names its reply from {SECRET_ID_CHARS} characters on)"
            raise NotFound(why, param="reply")
        return reply

    def running(self) -> list[Reply]:
        return [r for r in self._replies.values() if r.running]

    def waiting(self) -> int:
        """Replies in line: accepted, and their prefill not begun."""
        return sum(1 for r in self._replies.values() if r.running and r.started is None)

    def has_readers(self) -> bool:
        """Whether anybody still reads anything."""
        return any(r.readers for r in self._replies.values())

    def __len__(self) -> int:
        return len(self._replies)

    async def drain(self, seconds: float) -> None:
        """Refuse what is new, let what runs finish for so long, then end it with ServerShutdown."""
        self.draining = True
        deadline = asyncio.get_running_loop().time() + seconds
        for reply in self.running():
            try:
                async with asyncio.timeout_at(deadline):
                    await reply.over.wait()
            except TimeoutError:
                break
        for reply in self.running():
            reply.abort(ServerShutdown("The server is shutting down; the text so far is kept."))
        self.drained.set()

    # Private

    def _make_room(self) -> None:
        if self.draining:
            raise ServerShutdown("The server is shutting down.")
        limit = self._settings.max_waiting
        if self.waiting() >= limit:
            raise Overloaded(f"{limit} requests are waiting already, which is the limit; try again soon.")
        if len(self._replies) >= self._settings.max_replies:
            finished = next((r for r in self._replies.values() if not r.running and not r.readers), None)
            if finished is None:
                raise Overloaded(f"{len(self._replies)} replies are running, which is the limit.")
            self._forget(finished)

    def _hold(self, reply: Reply, count: int) -> None:
        seconds = self._settings.await_readers_s
        deadline = asyncio.get_running_loop().call_later(seconds, self._give_up_hold, reply, count)
        self._holds[reply.id] = (count, deadline)

    def _give_up_hold(self, reply: Reply, count: int) -> None:
        self._holds.pop(reply.id, None)
        have, seconds = len(reply.readers), self._settings.await_readers_s
        reply.fail(
            BadRequest(
                f"await_readers: {have} of {count} readers came within {seconds:g} s", param="await_readers"
            )
        )

    def _release(self, reply: Reply) -> None:
        if not reply.running:
            return
        try:
            reply.submit()
        except FirstwordError as error:
            reply.fail(error)

    def _readers_changed(self, reply: Reply) -> None:
        self._keep(reply)
        if not reply.readers:
            if reply.delivery.resume_s == 0:
                self._forget(reply)
            else:
                self._expire_in(reply, reply.delivery.resume_s)
        count, deadline = self._holds.get(reply.id, (0, None))
        if deadline is not None and len(reply.readers) >= count:
            deadline.cancel()
            del self._holds[reply.id]
            self._release(reply)

    def _keep(self, reply: Reply) -> None:
        expiry = self._expiries.pop(reply.id, None)
        if expiry is not None:
            expiry.cancel()

    def _expire_in(self, reply: Reply, seconds: float) -> None:
        self._keep(reply)
        self._expiries[reply.id] = asyncio.get_running_loop().call_later(seconds, self._expire, reply)

    def _expire(self, reply: Reply) -> None:
        """Nobody came back: stop working, and keep the text until its place is needed."""
        self._expiries.pop(reply.id, None)
        reply.stop()
        reply.compact()
        if reply.delivery.resume_s == 0:
            self._forget(reply)

    def _forget(self, reply: Reply) -> None:
        self._replies.pop(reply.id, None)
        if reply.client_id is not None and self._by_client_id.get(reply.client_id) is reply:
            del self._by_client_id[reply.client_id]
        self._keep(reply)
        hold = self._holds.pop(reply.id, None)
        if hold is not None:
            hold[1].cancel()

    def _tell(self, reply: Reply, event: AnyEvent) -> None:
        self.on_event(reply, event)


def _same_work(known: Prompt, asked: Prompt) -> bool:
    """Whether two prompts differ in what the server has put in only."""
    asked = msgspec.structs.replace(asked, id=known.id, granted_tokens=known.granted_tokens)
    return asked == known


def _with_grant(prompt: Prompt, delivery: Delivery) -> Prompt:
    grant = delivery.high_tokens if delivery.limited else None
    return msgspec.structs.replace(prompt, granted_tokens=grant)
