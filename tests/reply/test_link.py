"""The simulated link: frames keep their order, none comes too early, and none is forgotten."""

from hypothesis import given
from hypothesis import strategies as st

from app.reply.link import Link, LinkPlan

LINKS = st.builds(
    Link,
    latency_ms=st.floats(0, 5000),
    jitter_ms=st.floats(0, 2000),
    kbps=st.none() | st.floats(1, 100_000),
    loss_percent=st.floats(0, 50),
    stall_ms=st.floats(0, 5000),
    flush_bytes=st.none() | st.integers(1, 4000),
    flush_ms=st.none() | st.floats(1, 3000),
    seed=st.integers(0, 2**31),
)
#: (bytes, milliseconds since the frame before)
FRAMES = st.lists(st.tuples(st.integers(1, 3000), st.floats(0, 500)), min_size=1, max_size=30)


def deliveries(link: Link, frames: list[tuple[int, float]]) -> list[tuple[float, float]]:
    """(ready, delivered) of every frame, the last of which ends the answer."""
    plan, ready, delivered, now = LinkPlan(link), [], [], 0.0
    for place, (size, since) in enumerate(frames):
        now += since
        ready.append(now)
        delivered += plan.send(size, now, last=place == len(frames) - 1)
    assert plan.flush_at_ms is None and plan.flush(now) == []
    return list(zip(ready, delivered, strict=True))


@given(LINKS, FRAMES)
def test_every_frame_is_delivered_in_order_and_never_before_the_distance_allows(link, frames):
    times = deliveries(link, frames)
    assert [d for _, d in times] == sorted(d for _, d in times)
    assert all(d >= r + link.latency_ms - 1e-6 for r, d in times)


@given(LINKS, FRAMES)
def test_no_more_bytes_arrive_in_a_time_than_the_line_carries(link, frames):
    if link.kbps is None:
        return
    times = deliveries(link, frames)
    first_ready, last_delivered = times[0][0], times[-1][1]
    bits = sum(size for size, _ in frames) * 8
    assert last_delivered - first_ready >= bits / link.kbps - 1e-6


@given(LINKS, FRAMES)
def test_the_same_seed_makes_the_same_weather(link, frames):
    assert deliveries(link, frames) == deliveries(link, frames)


@given(st.lists(st.tuples(st.integers(1, 500), st.floats(0, 100)), min_size=2, max_size=30), st.data())
def test_the_proxy_lets_go_at_so_many_bytes_or_so_long_after_the_first_and_not_before(frames, data):
    flush_bytes = data.draw(st.none() | st.integers(1, 2000))
    flush_ms = data.draw(st.none() | st.floats(1, 300))
    plan = LinkPlan(Link(flush_bytes=flush_bytes, flush_ms=flush_ms))
    held: list[tuple[int, float]] = []
    now = 0.0
    for size, since in frames:
        now += since
        expected: list[float] = []
        if held and flush_ms is not None and held[0][1] + flush_ms <= now:
            expected, held = [held[0][1] + flush_ms] * len(held), []
        held.append((size, now))
        if sum(s for s, _ in held) >= (flush_bytes or float("inf")) or flush_bytes is flush_ms is None:
            expected, held = expected + [now] * len(held), []
        assert plan.send(size, now) == expected
    assert len(plan.flush(now)) == len(held)


def test_a_wide_link_of_no_length_delivers_at_once():
    assert LinkPlan(Link()).send(100, 7.0) == [7.0]


def test_a_line_of_eight_kilobits_carries_a_byte_a_millisecond():
    plan = LinkPlan(Link(kbps=8, latency_ms=5))
    assert [plan.send(100, 0.0), plan.send(100, 50.0), plan.send(100, 500.0)] == [[105.0], [205.0], [605.0]]


def test_behind_a_lost_packet_everything_waits():
    # The seed is one whose first packet is lost and whose next ones are not.
    seed = next(s for s in range(100) if _losses(s, 4) == [True, False, False, False])
    plan = LinkPlan(Link(loss_percent=30, stall_ms=1000, seed=seed))
    assert [plan.send(10, t)[0] for t in (0.0, 100.0, 900.0, 1500.0)] == [1000.0, 1000.0, 1000.0, 1500.0]


def test_losses_are_as_frequent_as_asked_for():
    lost = sum(sum(_losses(seed, 100)) for seed in range(20))
    assert 0.27 < lost / 2000 < 0.33


def test_a_flush_by_time_is_counted_from_the_first_byte_held():
    plan = LinkPlan(Link(flush_ms=200))
    assert plan.send(10, 0.0) == [] and plan.flush_at_ms == 200.0
    assert plan.send(10, 150.0) == [] and plan.flush_at_ms == 200.0
    assert plan.flush_due(199.0) == []
    assert plan.flush_due(230.0) == [200.0, 200.0], "late is when we look, not when it left"


def _losses(seed: int, frames: int) -> list[bool]:
    """Which frames are lost, seen from outside: each is sent long after the one before has come."""
    plan = LinkPlan(Link(loss_percent=30, stall_ms=1000, seed=seed))
    return [plan.send(10, t)[0] > t for t in (1e4 * n for n in range(frames))]
