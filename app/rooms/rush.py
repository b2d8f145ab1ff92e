"""Rush: everybody's answers, from one instant on, through the ordinary line at the door.

The room starts each answer itself, so that all begin at the same moment however good their radio
is, and so that one at a time is a matter of when the next is started. Phones read their own answer
by the ordinary wire, under the id that they are told. When the server's line is full the next
answer waits here; nobody is turned away. It refuses to know members and what is shown.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from app.errors import FirstwordError, Overloaded, from_code
from app.events import Delta, Error
from app.prompt import Message, Prompt, Sampling
from app.reply.log import Reply
from app.reply.registry import Replies
from app.rooms.notices import Answered, FirstToken, Notice, Sent
from app.rooms.sending import Sending

_LOG = logging.getLogger(__name__)
#: How soon a full line is asked again.
_AGAIN_S = 0.2


@dataclass(frozen=True, slots=True)
class RushLimits:
    """``at_once``: answers that a batched rush has in the server's line and batch together."""

    at_once: int
    temperature: float
    top_p: float
    most_tokens: int


class Rush:
    """One sending. ``tell`` hears its notices, ``moved`` how many have begun and ended."""

    def __init__(
        self,
        sending: Sending,
        replies: Replies,
        limits: RushLimits,
        new_id: Callable[[], str],
        tell: Callable[[Notice], None],
        moved: Callable[[int, int], None],
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._sending = sending
        self._replies = replies
        self._limits = limits
        self._new_id = new_id
        self._tell = tell
        self._moved = moved
        self._now_ns = now_ns
        self._began_ns = now_ns()
        self._num_begun = 0
        self._num_ended = 0
        self._running: set[Reply] = set()
        #: The line has a bounded number of them at once, and in their own time each phone has one at most.
        self._answers: set[asyncio.Task[None]] = set()
        self._line = asyncio.create_task(self._run())

    def send(self, number: int) -> asyncio.Task[None]:
        """One participant's answer, now: the button was pressed, or it is their turn."""
        task = asyncio.create_task(self._answer(number))
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)
        return task

    def stop(self) -> None:
        """End all answers that still run, and start no more; idempotent. Nothing is told of them."""
        for task in (self._line, *self._answers):
            task.cancel()
        for reply in self._running:
            reply.stop()

    # Private

    async def _run(self) -> None:
        at_once = 1 if self._sending.plan.mode == "one_at_a_time" else self._limits.at_once
        places = asyncio.Semaphore(at_once)
        for number in self._sending.line:
            await places.acquire()
            self.send(number).add_done_callback(lambda _: places.release())

    async def _answer(self, number: int) -> None:
        """One participant's answer; the border of one generation: the others go on.

        Whoever's cannot be started has had their turn, too: it has begun and is over.
        """
        reply: Reply | None = None
        failure: FirstwordError | None = None
        try:
            reply = await self._started(number)
            self._count(begun=1)
            self._tell(Sent(number, reply.id))
            failure = await self._read(number, reply)
        except FirstwordError as error:
            failure = error
        except Exception:
            _LOG.exception("an answer in a room failed")
            failure = FirstwordError("The answer failed.")
        if failure is not None:
            self._tell(Sent(number, message=failure.message, code=failure.code))
        self._count(begun=int(reply is None), ended=1)
        self._tell(Answered(number))

    async def _read(self, number: int, reply: Reply) -> FirstwordError | None:
        """Read it to its end; returns why it failed, or nothing."""
        failure, heard = None, False
        reader = reply.attach("token")
        self._running.add(reply)
        try:
            async for event in reader:
                if isinstance(event, Delta) and not heard:
                    heard = True
                    self._tell(FirstToken(number, round(self._waited_ms(reply) + event.t, 3)))
                elif isinstance(event, Error):
                    failure = from_code(event.code, event.message, event.param)
        finally:
            self._running.discard(reply)
            reader.close()
        return failure

    def _count(self, *, begun: int = 0, ended: int = 0) -> None:
        self._num_begun += begun
        self._num_ended += ended
        self._moved(self._num_begun, self._num_ended)

    def _waited_ms(self, reply: Reply) -> float:
        """From everybody's start until this answer was asked for; in their own time that is the start."""
        if self._sending.plan.mode == "own_time":
            return 0.0
        return (reply.received_ns - self._began_ns) / 1e6

    async def _started(self, number: int) -> Reply:
        while True:
            try:
                return self._replies.start(self._prompt(number), slow_policy="buffer")
            except Overloaded:
                await asyncio.sleep(_AGAIN_S)

    def _prompt(self, number: int) -> Prompt:
        plan = self._sending.plan
        return Prompt(
            id=self._new_id(),
            messages=(Message("user", self._sending.prompt_of(number) or ""),),
            sampling=Sampling(temperature=self._limits.temperature, top_p=self._limits.top_p),
            max_tokens=min(plan.max_tokens, self._limits.most_tokens),
            ignore_eos=plan.ignore_eos,
        )
