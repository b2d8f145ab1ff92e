"""Meters: what every reply cost, as Prometheus reads it.

It listens to the events of all replies and counts; it refuses to know who asked, what was asked
and what was answered: no label carries text, names or addresses. One registry of its own, so that
two servers in one process (tests) do not share numbers.
"""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from app.events import AnyEvent, Delta, Done, Error, Paused, Resumed
from app.generation import Engine, StepRecord
from app.reply.log import Reply
from app.reply.registry import Replies
from app.telemetry.lag import watch_lag

#: Upper bounds in seconds. A first token takes from milliseconds to a minute, a gap far less.
_TTFT_S = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5, 3, 6, 12, 30, 60)
_GAP_S = (0.002, 0.005, 0.01, 0.015, 0.025, 0.04, 0.06, 0.1, 0.2, 0.4, 0.8, 2)
_TOTAL_S = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
_LAG_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)


class Meters:
    """All meters of one server. ``listen`` is given to the registry of replies."""

    def __init__(self, replies: Replies, engine: Engine) -> None:
        self._replies = replies
        self._registry = CollectorRegistry()
        reg = self._registry
        self._ttft = _histogram(reg, "time_to_first_token", "Received to first token made.", _TTFT_S)
        self._gap = _histogram(
            reg, "inter_token_latency", "Gap between the server's deltas, by the tokens they bring.", _GAP_S
        )
        self._e2e = _histogram(reg, "e2e", "Received to done.", _TOTAL_S)
        self._queue = _histogram(reg, "queue", "Received to prefill begun.", _TTFT_S)
        self._paused = _histogram(reg, "paused", "One pause of a reply, waiting for a slow reader.", _TOTAL_S)
        self._aborted = Counter(
            "firstword_aborted", "Replies that did not finish by themselves.", ["reason"], registry=reg
        )
        self._kv = Gauge("firstword_kv_used_ratio", "KV blocks in use over all blocks.", registry=reg)
        self._running = Gauge("firstword_running", "Replies past the line.", registry=reg)
        self._waiting = Gauge("firstword_waiting", "Replies in line.", registry=reg)
        self._readers = Gauge("firstword_readers", "Cursors on replies that are being made.", registry=reg)
        self._tasks = Gauge("firstword_tasks", "Tasks of the event loop.", registry=reg)
        self._lag = _histogram(reg, "event_loop_lag", "How late the event loop comes to a timer.", _LAG_S)
        #: When each running reply's last delta was made, in its own milliseconds.
        self._last_t: dict[str, float] = {}
        #: And when the paused ones' pauses began.
        self._paused_t: dict[str, float] = {}
        self._engine = engine
        self._watching = False

    def listen(self, reply: Reply, event: AnyEvent) -> None:
        """Count one event of one reply."""
        match event:
            case Delta():
                last = self._last_t.get(reply.id)
                if last is None:
                    self._ttft.observe(event.t / 1e3)
                elif event.tokens > 0:
                    gap_s = max(event.t - last, 0.0) / 1e3 / event.tokens
                    for _ in range(event.tokens):
                        self._gap.observe(gap_s)
                self._last_t[reply.id] = event.t
            case Paused():
                self._paused_t[reply.id] = event.t
            case Resumed():
                self._end_pause(reply, event.t)
            case Done():
                self._last_t.pop(reply.id, None)
                self._end_pause(reply, event.t)
                self._e2e.observe(event.timings.total_ms / 1e3)
                if event.timings.queue_ms is not None:
                    self._queue.observe(event.timings.queue_ms / 1e3)
                if event.finish_reason == "cancelled":
                    self._aborted.labels("cancelled").inc()
            case Error():
                self._last_t.pop(reply.id, None)
                if event.t is not None:
                    self._end_pause(reply, event.t)
                self._aborted.labels(event.code).inc()
            case _:
                pass

    async def watch_loop(self) -> None:
        """Count the event loop's lag until cancelled."""
        await watch_lag(self._lag.observe)

    def render(self) -> bytes:
        """The text that Prometheus scrapes; call it on the event loop, whose tasks it counts."""
        if not self._watching:
            # The engine tells its steps only to those who ask: from the first scrape on we do.
            self._watching = True
            self._engine.watch_steps(self._step)
        running = self._replies.running()
        waiting = self._replies.waiting()
        if not running:
            # The last step told of a sequence that has left since: nobody holds memory now.
            self._kv.set(0.0)
        self._running.set(len(running) - waiting)
        self._waiting.set(waiting)
        self._readers.set(sum(len(r.readers) for r in running))
        self._tasks.set(len(asyncio.all_tasks()))
        return generate_latest(self._registry)

    # Private

    def _end_pause(self, reply: Reply, t: float) -> None:
        began = self._paused_t.pop(reply.id, None)
        if began is not None:
            self._paused.observe((t - began) / 1e3)

    def _step(self, step: StepRecord) -> None:
        self._kv.set(step.kv_used_blocks / step.kv_total_blocks if step.kv_total_blocks else 0.0)


def routes(meters: Meters) -> list[BaseRoute]:
    """``/metrics``."""

    async def metrics(request: Request) -> Response:
        return Response(meters.render(), headers={"content-type": CONTENT_TYPE_LATEST})

    return [Route("/metrics", metrics, methods=["GET"])]


def _histogram(registry: CollectorRegistry, name: str, text: str, buckets: tuple[float, ...]) -> Histogram:
    return Histogram(f"firstword_{name}_seconds", text, buckets=buckets, registry=registry)
