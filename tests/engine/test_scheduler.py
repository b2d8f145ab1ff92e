"""Who computes what: batching, fairness, preemption, and books that balance after any history."""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from app.engine.plan import Plan
from app.engine.scheduler import AHEAD_AFTER_NS, Limits, Scheduler
from app.engine.sequence import Sequence, State
from app.engine.transcript import Transcript
from app.prompt import Prompt


def make(**limits: int) -> Scheduler:
    numbers = {"max_batch": 4, "context_tokens": 512, "num_slots": 8, "num_blocks": 64, "paused_blocks": 32}
    return Scheduler(Limits(**{**numbers, **limits}))


def sequence(id: str, num_prompt: int, *, granted: int | None = None, token: int | None = None) -> Sequence:
    """A sequence whose prompt shares its beginning with no other, unless ``token`` says so."""
    token_ids = [sum(map(ord, id)) if token is None else token] * num_prompt
    return Sequence(Prompt(id=id, text=id), token_ids, Transcript(max_tokens=400), 0, granted=granted)


def step(scheduler: Scheduler, budget: int = 100, now_ns: int = 0) -> Plan:
    """Plan, compute, and let every row make a token."""
    plan = scheduler.plan(now_ns, budget)
    for begun in plan.begun:
        begun.begun_ns = now_ns
    for resumed in plan.resumed:
        resumed.paused_since_ns = None
    for row in scheduler.completed(plan):
        row.token_ids.append(row.num_made)
    scheduler.check()
    return plan


def work(plan: Plan) -> tuple[dict[str, int], list[str]]:
    return {s.id: len(chunk.token_ids) for s, chunk in plan.prefill}, [s.id for s in plan.decode]


def test_several_prompts_share_one_budget_and_decode_goes_on_beside_them():
    scheduler = make()
    scheduler.add(sequence("a", 30))
    assert work(step(scheduler)) == ({"a": 30}, [])
    for id in "bcd":
        scheduler.add(sequence(id, 45))
    assert work(step(scheduler)) == ({"b": 45, "c": 45, "d": 10}, ["a"])
    assert work(step(scheduler)) == ({"d": 35}, ["a", "b", "c"])
    assert work(step(scheduler)) == ({}, ["a", "b", "c", "d"])


def test_no_step_is_without_decode_while_a_long_prompt_comes_in():
    scheduler = make()
    scheduler.add(sequence("stream", 10))
    step(scheduler)
    scheduler.add(sequence("long", 400))
    plans = [step(scheduler, budget=16) for _ in range(25)]
    assert all("stream" in work(plan)[1] for plan in plans)
    assert all(sum(work(plan)[0].values()) <= 16 for plan in plans)
    assert scheduler.active[1].state is State.RUNNING


def test_only_the_piece_that_completes_a_prompt_wants_logits():
    scheduler = make()
    scheduler.add(sequence("a", 30))
    wants = [step(scheduler, budget=20).prefill[0][1].wants_logits for _ in range(2)]
    assert wants == [False, True]


def test_the_line_is_served_in_order_and_its_head_is_not_passed():
    scheduler = make(num_blocks=10, max_batch=3)
    for id, tokens in (("a", 96), ("big", 100), ("small", 1)):
        scheduler.add(sequence(id, tokens))
    plan = step(scheduler)
    assert work(plan)[0] == {"a": 96}
    assert [s.id for s in scheduler.waiting] == ["big", "small"]
    scheduler.remove(scheduler.active[0], keep_prefix=False)
    assert list(work(step(scheduler, budget=200))[0]) == ["big", "small"]


def test_everyone_is_served_whatever_keeps_coming():
    scheduler = make(max_batch=2, num_blocks=8)
    ages: dict[str, int] = {}
    for turn in range(200):
        scheduler.add(sequence(f"s{turn}", 1 + turn * 7 % 60))
        step(scheduler, budget=10)
        for running in list(scheduler.active):
            if running.num_made >= 3:
                ages[running.id] = turn - running.arrival
                scheduler.remove(running, keep_prefix=True)
    served = sorted(int(id[1:]) for id in ages)
    assert served == list(range(len(served))), "somebody was passed"
    assert len(served) > 30


def test_the_youngest_gives_way_when_blocks_run_out_and_comes_back():
    scheduler = make(num_blocks=4, max_batch=2)
    old, young = sequence("old", 15), sequence("young", 15)
    scheduler.add(old)
    scheduler.add(young)
    preempted: list[str] = []
    while not preempted:
        preempted += [s.id for s in step(scheduler).preempted]
    assert preempted == ["young"]
    assert (young.state, young.slot, young.computed) == (State.WAITING, None, 0)
    made = young.num_made
    assert made > 0
    while old.num_made < 40:
        step(scheduler)
    scheduler.remove(old, keep_prefix=False)
    plan = step(scheduler)
    assert work(plan) == ({"young": 15 + made}, [])
    assert plan.begun == (), "it begins only once"
    assert young.num_made == made + 1


def test_a_sequence_pauses_at_its_grant_keeps_its_kv_and_returns_where_it_was():
    scheduler = make()
    a = sequence("a", 20, granted=2)
    scheduler.add(a)
    step(scheduler)
    step(scheduler)
    assert not a.may_go_on
    scheduler.pause(a)
    slot = a.slot
    assert work(step(scheduler)) == ({}, [])
    a.granted = 3
    plan = step(scheduler)
    assert plan.resumed == (a,)
    assert work(plan) == ({}, ["a"])
    assert (a.slot, a.num_made) == (slot, 3)


def test_sleepers_lose_their_kv_beyond_their_share_longest_paused_first():
    scheduler = make(paused_blocks=4)
    sleepers = [sequence(id, 32, granted=1) for id in "abc"]
    for sleeper in sleepers:
        scheduler.add(sleeper)
    step(scheduler)
    for sleeper in sleepers:
        scheduler.pause(sleeper)
    assert [s.slot is None for s in sleepers] == [True, False, False]
    sleepers[0].paused_since_ns = 0
    sleepers[0].granted = 2
    plan = step(scheduler)
    assert work(plan) == ({"a": 33}, [])
    assert plan.resumed == (sleepers[0],)
    assert sleepers[0].num_made == 2


def test_sleepers_in_every_slot_do_not_keep_a_newcomer_out():
    scheduler = make(num_slots=4, max_batch=4)
    for id in "abcd":
        scheduler.add(sequence(id, 5, granted=1))
    step(scheduler)
    for sleeper in list(scheduler.active):
        scheduler.pause(sleeper)
    scheduler.add(sequence("new", 5))
    plan = step(scheduler)
    assert work(plan) == ({"new": 5}, [])
    assert [s.id for s in plan.preempted] == ["a"]


def test_sleepers_memory_is_taken_when_a_newcomer_could_otherwise_wait_for_ever():
    scheduler = make(num_blocks=10, paused_blocks=5)
    sleeper = sequence("sleeper", 60, granted=1)
    scheduler.add(sleeper)
    step(scheduler)
    scheduler.pause(sleeper)
    assert sleeper.slot is not None
    scheduler.add(sequence("new", 120))
    assert work(step(scheduler, budget=200)) == ({"new": 120}, [])
    assert sleeper.slot is None


def test_a_resumed_sequence_waits_for_a_place_in_the_batch():
    scheduler = make(max_batch=1)
    a = sequence("a", 5, granted=1)
    scheduler.add(a)
    step(scheduler)
    scheduler.pause(a)
    scheduler.add(sequence("b", 5))
    step(scheduler)
    a.granted = 9
    plan = step(scheduler)
    assert plan.resumed == ()
    scheduler.remove(scheduler.active[0], keep_prefix=False)
    assert step(scheduler).resumed == (a,)


def test_slow_motion_is_not_decoded_before_its_time():
    scheduler = make()
    slow, fast = sequence("slow", 5), sequence("fast", 6)
    scheduler.add(slow)
    scheduler.add(fast)
    step(scheduler)
    slow.due_ns = 50
    assert work(step(scheduler, now_ns=49)) == ({}, ["fast"])
    scheduler.remove(fast, keep_prefix=False)
    plan = step(scheduler, now_ns=49)
    assert (plan.has_work, plan.due_ns) == (False, 50)
    assert work(step(scheduler, now_ns=50)) == ({}, ["slow"])


def test_half_a_prompt_is_offered_only_as_far_as_it_is_computed():
    scheduler = make()
    first = sequence("first", 100, token=1)
    scheduler.add(first)
    step(scheduler, budget=40)
    scheduler.add(sequence("second", 100, token=1))
    plan = step(scheduler, budget=70)
    assert work(plan) == ({"first": 60, "second": 10}, [])
    assert scheduler.active[1].cached_tokens == 40
    scheduler.remove(scheduler.active[1], keep_prefix=True)
    assert [len(held) for _, held in scheduler.memory._cache.items()] == [50]


def test_reading_ahead_gives_way_to_who_needs_its_blocks():
    scheduler = make(num_blocks=4, max_batch=2)
    done, other = sequence("done", 14), sequence("other", 20)
    done.next_turn = (1, 2, 3)
    scheduler.add(done)
    scheduler.add(other)
    step(scheduler)
    scheduler.finish(done, 0)
    assert [s.id for s in scheduler.ahead] == ["done"] and done.state is State.AHEAD
    while other.num_made < 40:
        assert step(scheduler).preempted == ()
    assert (scheduler.ahead, done.state, done.slot) == ([], State.ENDED, None)


class Histories(RuleBasedStateMachine):
    """Any order of what can happen; after each step all books balance, and at the end all is free."""

    def __init__(self) -> None:
        super().__init__()
        self.scheduler = make(max_batch=3, num_slots=5, num_blocks=12, paused_blocks=5)
        self.now_ns = 0

    def living(self) -> list[Sequence]:
        line = self.scheduler
        return [*line.waiting, *line.active, *line.paused, *line.ahead]

    @rule(num_prompt=st.integers(1, 120), token=st.integers(1, 3), granted=st.sampled_from([None, 1, 5]))
    def add(self, num_prompt, token, granted):
        if self.scheduler.room_for_text(num_prompt) > 40:
            self.scheduler.add(sequence("x", num_prompt, token=token, granted=granted))

    @rule(pick=st.integers(0, 100), keep=st.booleans())
    def cancel(self, pick, keep):
        if living := self.living():
            self.scheduler.remove(living[pick % len(living)], keep_prefix=keep)

    @rule(pick=st.integers(0, 100), num_next=st.integers(0, 30))
    def finish(self, pick, num_next):
        if running := [s for s in self.scheduler.active if s.state is State.RUNNING]:
            chosen = running[pick % len(running)]
            chosen.next_turn = (5,) * num_next
            self.scheduler.finish(chosen, self.now_ns)

    @rule(pick=st.integers(0, 100), more=st.integers(1, 20))
    def grant(self, pick, more):
        if living := self.living():
            chosen = living[pick % len(living)]
            chosen.granted = None if chosen.granted is None else chosen.granted + more

    @rule(budget=st.integers(1, 150), pass_ns=st.integers(0, 3))
    def step(self, budget, pass_ns):
        self.now_ns += pass_ns * (AHEAD_AFTER_NS if self.scheduler.ahead else 1)
        plan = step(self.scheduler, budget, self.now_ns)
        for running in [s for s in self.scheduler.active if s.state is State.RUNNING]:
            if running.num_made >= 40:
                self.scheduler.remove(running, keep_prefix=True)
            elif not running.may_go_on:
                self.scheduler.pause(running)
                running.paused_since_ns = self.now_ns
        assert plan.has_work or not self.scheduler.active or plan.due_ns is not None

    @invariant()
    def books_balance(self) -> None:
        self.scheduler.check()

    def teardown(self) -> None:
        for left in self.living():
            self.scheduler.remove(left, keep_prefix=True)
        self.scheduler.memory.drop_cache()
        self.scheduler.check()
        blocks = self.scheduler.memory.blocks
        assert (blocks.num_free, blocks.num_free_slots) == (blocks.num_blocks, blocks.num_slots)


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=40, stateful_step_count=60, deadline=None)


def test_ten_thousand_random_operations_leak_no_block():
    chance = random.Random(3)
    history = Histories()
    for _ in range(10_000):
        match chance.randrange(9):
            case 0:
                if len(history.living()) < 12:
                    history.add(chance.randint(1, 120), chance.randint(1, 3), chance.choice([None, 1, 5]))
            case 1 if chance.random() < 0.3:
                history.cancel(chance.randrange(100), chance.random() < 0.7)
            case 2:
                history.grant(chance.randrange(100), chance.randint(1, 20))
            case 3 if chance.random() < 0.3:
                history.finish(chance.randrange(100), chance.randrange(30))
            case _:
                history.step(chance.randint(1, 150), 1)
        history.books_balance()
    assert history.scheduler.memory.blocks.num_owned > 0, "nothing happened"
    history.teardown()
