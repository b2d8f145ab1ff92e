import pytest

from app import events
from app.errors import EngineFailed, PromptTooLong, SlowConsumer
from app.events import Delta, Done, Error, Started
from app.generation import Ended, Failed, Paused, Resumed, Waiting
from app.prompt import Prompt
from app.reply.flow import Delivery
from app.reply.log import Reply
from tests.reply.fake_engine import FakeEngine
from tests.reply.hand_clock import breathe, pass_time, take_ready, tell_story

SMALL = Delivery(high_tokens=4, low_tokens=1, stall_s=10, resume_s=60)


def submitted(engine: FakeEngine, delivery: Delivery = SMALL) -> Reply:
    reply = Reply(Prompt("r", text="Hi", max_tokens=100), engine, delivery, engine.clock, client_id="mine")
    reply.submit()
    return reply


def kinds(log: list[events.AnyEvent]) -> list[str]:
    return [type(event).__name__ for event in log]


async def test_outputs_become_events_in_their_order_with_times_and_places():
    engine = FakeEngine()
    engine.now_ns = 5_000_000
    reply = submitted(engine)
    for ms, output in [
        (6, Waiting("r", 1, 6_000_000)),
        (7, Waiting("r", 0, 7_000_000)),
    ]:
        engine.tell(output)
        assert reply.log[-1] == events.Queued("r", 8 - ms - 1, ms - 5.0, "mine")
    engine.now_ns = 8_000_000
    engine.begin("r")
    engine.say("r", "One", " two", tokens=2)
    engine.tell(
        Ended(
            "r",
            "stop",
            3,
            4,
            20_000_000,
            cached_tokens=1,
            begun_ns=8_000_000,
            first_token_ns=9_500_000,
            last_token_ns=19_000_000,
            paused_ns=2_000_000,
            stop="\n",
        )
    )
    assert reply.log[3:] == [
        Started("r", "fake", 3, 1, 3.0, "mine"),
        Delta("r", 1, "One", 2, 3.0),
        Delta("r", 2, " two", 2, 3.0),
        Done(
            "r",
            2,
            "stop",
            events.Usage(3, 4, 7, 1),
            events.Timings(3.0, 1.5, 4.5, 9.5, 2.0, 15.0),
            15.0,
            "\n",
            "mine",
        ),
    ]
    assert reply.text == "One two"


async def test_stages_that_were_not_reached_have_no_times():
    engine = FakeEngine()
    reply = submitted(engine)
    engine.finish("r", "cancelled")
    assert isinstance(reply.end, Done)
    assert reply.end.timings == events.Timings(None, None, None, None, 0.0, 0.0)


async def test_nothing_is_written_after_the_end():
    engine = FakeEngine()
    reply = submitted(engine)
    engine.begin("r")
    engine.finish("r")
    before = list(reply.log)
    engine.say("r", "late")
    engine.tell(Failed("r", "engine_error", "late", 0))
    engine.tell(Paused("r", 0))
    engine.finish("r")
    reply.fail(EngineFailed("late"))
    reply.stop()
    assert reply.log == before
    assert engine.cancelled == []


async def test_a_failure_in_mid_reply_keeps_the_text():
    engine = FakeEngine()
    reply = submitted(engine)
    engine.begin("r")
    engine.say("r", "Half")
    engine.tell(Failed("r", "engine_error", "broken", 0))
    await reply.opened()
    assert reply.text == "Half"
    assert reply.end == Error("engine_error", "broken", False, "r", "mine", None, 0.0)


async def test_a_prompt_refused_at_the_door_raises_when_opened():
    engine = FakeEngine()
    reply = submitted(engine)
    engine.tell(Failed("r", "prompt_too_long", "9 of 8 tokens", 0, "messages"))
    with pytest.raises(PromptTooLong, match="9 of 8 tokens") as refused:
        await reply.opened()
    assert refused.value.param == "messages"


async def test_stop_cancels_in_line_and_later_and_grants_no_more():
    engine = FakeEngine()
    reply = submitted(engine)
    reader = reply.attach("token")
    engine.tell(Waiting("r", 3, 0))
    reply.stop()
    assert engine.cancelled == ["r"]
    reader.close()
    assert engine.grants == []
    assert reply.running
    engine.finish("r", "cancelled")
    assert isinstance(reply.end, Done) and reply.end.finish_reason == "cancelled"


async def test_stop_before_the_engine_has_it_ends_it_at_once():
    engine = FakeEngine()
    reply = Reply(Prompt("r", text="Hi"), engine, SMALL, engine.clock)
    reply.stop()
    assert kinds(reply.log) == ["Done"]
    assert engine.cancelled == []


async def test_without_a_resume_window_the_last_reader_out_stops_it():
    engine = FakeEngine()
    reply = submitted(engine, Delivery(resume_s=0))
    first, second = reply.attach("token"), reply.attach("whole")
    engine.begin("r")
    first.close()
    first.close()
    assert engine.cancelled == []
    second.close()
    assert engine.cancelled == ["r"]
    assert engine.grants == []


async def test_a_reader_that_keeps_up_is_granted_more():
    engine = FakeEngine()
    reply = submitted(engine)
    reader = reply.attach("token")
    engine.begin("r")
    engine.say("r", *"abc")
    await take_ready(reader)
    assert engine.grants[-1] == ("r", 7)


async def test_a_reader_with_acks_is_as_far_as_it_says():
    engine = FakeEngine()
    reply = submitted(engine)
    reader = reply.attach("token", acks=True)
    engine.begin("r")
    engine.say("r", *"abcd")
    engine.tell(Paused("r", 0))
    await take_ready(reader)
    assert engine.grants == [] and reply.credit.unread == 4
    reader.acknowledge(2)
    assert engine.grants == []
    reader.acknowledge(9)
    assert engine.grants == [("r", 8)] and reply.credit.unread == 0


async def test_acknowledging_what_was_not_handed_out_is_no_progress():
    engine = FakeEngine()
    reply = submitted(engine)
    reader = reply.attach("token", acks=True)
    engine.begin("r")
    engine.say("r", *"abcd")
    reader.acknowledge(4)
    assert reply.credit.read == 0 and engine.grants == []


async def test_the_fastest_reader_is_waited_for():
    engine = FakeEngine()
    reply = submitted(engine)
    asleep, awake = reply.attach("token"), reply.attach("token")
    engine.begin("r")
    engine.say("r", *"abcd")
    await take_ready(awake)
    assert asleep.read_tokens == 0
    assert engine.grants[-1] == ("r", 8)


async def test_an_all_at_once_reader_never_slows_it():
    engine = FakeEngine()
    reply = submitted(engine)
    reader = reply.attach("whole")
    engine.begin("r")
    for _ in range(10):
        engine.say("r", "a", "b")
        await take_ready(reader)
    assert reply.credit.unread == 0


async def test_what_nobody_reads_runs_on_and_a_returner_is_waited_for_again():
    engine = FakeEngine()
    reply = submitted(engine)
    reader = reply.attach("token")
    engine.begin("r")
    engine.say("r", *"abcd")
    reader.close()
    assert engine.grants == [("r", 100)]
    engine.say("r", *"efgh")
    reply.attach("token", after=4)
    assert engine.grants[-1] == ("r", 12)


async def test_a_reply_in_hold_grants_nothing_and_starts_with_its_prompt_s_grant():
    engine = FakeEngine()
    reply = Reply(Prompt("r", text="Hi"), engine, SMALL, engine.clock)
    reply.attach("token").close()
    reply.attach("token")
    reply.submit()
    assert engine.grants == []
    assert reply.credit.granted == 4


@pytest.mark.parametrize("policy", ["coalesce", "buffer"])
async def test_policies_that_do_not_wait_grant_nothing(policy):
    engine = FakeEngine()
    reply = submitted(engine, Delivery(4, 1, 10, 60, policy))
    reader = reply.attach("token")
    engine.begin("r")
    engine.say("r", *"abcdefgh")
    await take_ready(reader)
    reader.close()
    assert engine.grants == []


async def test_the_coalesce_policy_merges_what_waits():
    engine = FakeEngine()
    reply = submitted(engine, Delivery(4, 1, 10, 60, "coalesce"))
    reader = reply.attach("token")
    engine.begin("r")
    engine.say("r", *"abc")
    first = await take_ready(reader)
    engine.say("r", *"de")
    engine.finish("r")
    second = await take_ready(reader)
    assert kinds(first + second) == ["Queued", "Started", "Delta", "Delta", "Done"]
    assert [e.text for e in first + second if isinstance(e, Delta)] == ["abc", "de"]


async def test_the_abort_policy_ends_it_at_the_high_mark():
    engine = FakeEngine()
    reply = submitted(engine, Delivery(4, 1, 10, 60, "abort"))
    reply.attach("token")
    engine.begin("r")
    engine.say("r", *"abc")
    assert reply.running
    engine.say("r", "d")
    assert isinstance(reply.failure, SlowConsumer)
    assert engine.cancelled == ["r"]
    assert kinds(reply.log)[-2:] == ["Delta", "Error"]


async def test_the_abort_policy_spares_a_reader_that_is_only_a_little_behind():
    engine = FakeEngine()
    reply = submitted(engine, Delivery(4, 1, 10, 60, "abort"))
    reader = reply.attach("token")
    engine.begin("r")
    engine.say("r", *"abc")
    await take_ready(reader)
    engine.say("r", "d")
    engine.tell(Paused("r", 0, 4))
    assert reply.running and engine.cancelled == []


def test_a_reader_that_does_not_move_is_given_up_after_the_stall_limit():
    async def story():
        engine = FakeEngine()
        reply = submitted(engine)
        reply.attach("token")
        engine.begin("r")
        engine.say("r", *"abcd")
        engine.tell(Paused("r", 0, 4))
        await pass_time(9.9)
        assert reply.running
        await pass_time(0.2)
        assert isinstance(reply.failure, SlowConsumer)
        assert reply.failure.message == "Generation was ended: the reader did not move for 10 s."
        assert engine.cancelled == ["r"]
        assert reply.text == "abcd"

    tell_story(story)


def test_a_reader_that_was_cut_off_may_come_back_and_one_that_sleeps_beside_it_may_not():
    async def story(sleepers: int) -> Reply:
        engine = FakeEngine()
        reply = submitted(engine)
        cut_off = reply.attach("token")
        cut_off.is_cut_off = lambda: True
        for _ in range(sleepers):
            reply.attach("token")
        engine.begin("r")
        engine.say("r", *"abcd")
        engine.tell(Paused("r", 0, 4))
        await pass_time(10.1)
        assert cut_off not in reply.readers
        return reply

    async def alone() -> None:
        reply = await story(0)
        assert reply.running and not reply.readers

    async def beside_a_sleeper() -> None:
        reply = await story(1)
        assert isinstance(reply.failure, SlowConsumer)

    tell_story(alone)
    tell_story(beside_a_sleeper)


def test_a_reader_that_stops_moving_is_waited_for_below_the_high_mark():
    async def story():
        engine = FakeEngine()
        reply = submitted(engine, Delivery(high_tokens=64, low_tokens=2))
        reader = reply.attach("token", acks=True)
        engine.begin("r")
        engine.say("r", "a")
        await take_ready(reader)
        reader.acknowledge(1)
        grants = len(engine.grants)
        for _ in range(3):
            engine.say("r", "b")
            engine.now_ns += 100_000_000
        assert len(engine.grants) == grants
        engine.say("r", "b")
        assert engine.grants[-1] == ("r", 5), "stop here: it has not moved for 0.3 s"
        engine.tell(Paused("r", engine.now_ns, 5))
        await take_ready(reader)
        reader.acknowledge(2)
        assert engine.grants[-1] == ("r", 5)
        reader.acknowledge(3)
        assert engine.grants[-1] == ("r", 67)

    tell_story(story)


@pytest.mark.parametrize("policy", ["abort", "coalesce", "buffer"])
async def test_only_the_policy_that_pauses_asks_whether_a_reader_moves(policy):
    engine = FakeEngine()
    reply = submitted(engine, Delivery(high_tokens=64, low_tokens=2, slow_policy=policy))
    reader = reply.attach("token", acks=True)
    engine.begin("r")
    engine.say("r", "a")
    await take_ready(reader)
    reader.acknowledge(1)
    before = list(engine.grants)
    for _ in range(20):
        engine.now_ns += 100_000_000
        engine.say("r", "b")
    assert engine.grants == before and reply.running


def test_any_progress_is_a_sign_of_life():
    async def story():
        engine = FakeEngine()
        reply = submitted(engine)
        reader = reply.attach("token", acks=True)
        engine.begin("r")
        engine.say("r", *"abcd")
        engine.tell(Paused("r", 0, 4))
        await take_ready(reader)
        for seq in (1, 2):
            await pass_time(9)
            reader.acknowledge(seq)
        await pass_time(9)
        assert reply.running
        # Saying the same again is no progress.
        reader.acknowledge(2)
        await pass_time(2)
        assert not reply.running

    tell_story(story)


def test_time_that_the_engine_takes_to_return_is_not_the_reader_s():
    async def story():
        engine = FakeEngine()
        reply = submitted(engine)
        reader = reply.attach("token")
        engine.begin("r")
        engine.say("r", *"abcd")
        engine.tell(Paused("r", 0, 4))
        await take_ready(reader)
        assert engine.grants[-1] == ("r", 8)
        await pass_time(1000)
        assert reply.running
        engine.tell(Resumed("r", 0))
        engine.say("r", *"efgh")
        engine.tell(Paused("r", 0, 8))
        await pass_time(11)
        assert not reply.running

    tell_story(story)


def test_a_pause_before_any_text_is_answered_with_a_grant():
    async def story():
        engine = FakeEngine()
        reply = submitted(engine)
        reader = reply.attach("token")
        engine.begin("r")
        await take_ready(reader)
        # Four tokens were made, and none of them has text yet.
        engine.tell(Paused("r", 0, 4))
        assert engine.grants == [("r", 8)]

    tell_story(story)


def test_who_left_is_not_late():
    async def story():
        engine = FakeEngine()
        reply = submitted(engine)
        reader = reply.attach("token")
        engine.begin("r")
        engine.say("r", *"abcd")
        engine.tell(Paused("r", 0, 4))
        reader.close()
        await pass_time(100)
        assert reply.running
        assert engine.grants[-1] == ("r", 100)

    tell_story(story)


def test_no_timer_outlives_the_end():
    async def story():
        engine = FakeEngine()
        reply = submitted(engine)
        reply.attach("token")
        engine.begin("r")
        engine.say("r", *"abcd")
        engine.tell(Paused("r", 0, 4))
        reply.stop()
        engine.tell(Paused("r", 0, 4))
        engine.finish("r", "cancelled")
        await pass_time(100)
        assert kinds(reply.log)[-1] == "Done"

    tell_story(story)


async def test_compacting_keeps_the_text_and_the_end():
    engine = FakeEngine()
    reply = submitted(engine)
    engine.begin("r")
    engine.say("r", *"abc")
    reply.compact()
    assert len(reply.deltas) == 3, "not while it runs"
    engine.finish("r")
    assert kinds(reply.log) == ["Delta", "Done"]
    assert (reply.text, reply.deltas[0].seq, reply.deltas[0].tokens) == ("abc", 3, 3)


async def test_compacting_waits_until_nobody_reads():
    engine = FakeEngine()
    reply = submitted(engine)
    engine.begin("r")
    engine.say("r", *"abc")
    reply.compact()
    reader = reply.attach("token")
    seen = await take_ready(reader)
    engine.say("r", "d")
    engine.finish("r")
    seen += await take_ready(reader)
    assert kinds(seen) == ["Started", "Delta", "Delta", "Delta", "Delta", "Done"]
    reader.close()
    assert kinds(reply.log) == ["Delta", "Done"]


async def test_whoever_listens_hears_every_event_once():
    engine = FakeEngine()
    heard: list[events.AnyEvent] = []
    reply = Reply(
        Prompt("r", text="Hi"), engine, SMALL, engine.clock, on_event=lambda reply, event: heard.append(event)
    )
    reply.submit()
    engine.begin("r")
    engine.say("r", "a")
    engine.finish("r")
    await breathe()
    assert heard == reply.log
