"""The loop as a whole: what is told and when, grants, cancels, failures, and its thread."""

from __future__ import annotations

import queue
import threading

import pytest

from app.engine.commands import Add, Cancel, Command, Grant, Stop, Watch
from app.engine.loop import Loop, LoopSettings
from app.engine.scheduler import AHEAD_AFTER_NS
from app.generation import Begun, Ended, Output, Paused, Piece, Resumed, Waiting
from app.prompt import Prompt, Sampling
from tests.engine.tiny import TinyRunner, TinyTokenizer, World, alone


def prompt(id: str, text: str = "some words", **options: object) -> Prompt:
    return Prompt(**{"id": id, "text": text, "max_tokens": 10, "ignore_eos": True, **options})  # type: ignore[arg-type]


def test_outputs_come_in_their_order_and_add_up():
    world = World()
    world.add(prompt("a"))
    world.run()
    kinds = world.kinds("a")
    assert kinds[:2] == ["Waiting", "Begun"] and kinds[-1] == "Ended"
    assert set(kinds[2:-1]) == {"Piece"}
    ended = world.ended("a")
    pieces = [output for output in world.outputs("a") if isinstance(output, Piece)]
    assert sum(piece.tokens for piece in pieces) == ended.completion_tokens == 10
    assert (ended.finish_reason, ended.prompt_tokens, ended.cached_tokens) == ("length", 10, 0)
    begun = world.outputs("a")[1]
    assert isinstance(begun, Begun) and begun.prompt_tokens == 10
    assert ended.begun_ns and ended.first_token_ns and ended.last_token_ns
    assert begun.at_ns == ended.begun_ns < ended.first_token_ns == pieces[0].at_ns
    assert ended.last_token_ns == pieces[-1].at_ns <= ended.at_ns


def test_all_that_a_step_brings_is_handed_over_in_one_call():
    world = World()
    for id in "abc":
        world.add(prompt(id))
    world.loop.run_once()
    assert [{type(output) for output in batch} for batch in world.emitted] == [{Waiting, Begun}, {Piece}]
    world.emitted.clear()
    world.loop.run_once()
    assert len(world.emitted) == 1


def test_places_in_line_are_told_when_they_change():
    world = World(max_batch=1)
    for id in "abc":
        world.add(prompt(id, max_tokens=3))
    world.run()
    places = {id: [o.position for o in world.outputs(id) if isinstance(o, Waiting)] for id in "abc"}
    assert places == {"a": [0], "b": [0], "c": [1, 0]}


def test_a_next_turn_computes_only_what_is_new():
    world = World()
    world.add(prompt("one", "x" * 60))
    world.run()
    before = world.runner.num_tokens
    first = world.loop.scheduler.memory._cache
    ((_, held),) = list(first.items())
    assert len(held) == 69, "the last token's keys were never needed"
    world.apply(Add(prompt("two"), [*held, 5, 6]))
    world.run()
    assert world.ended("two").cached_tokens == 69
    assert world.runner.num_tokens - before == 2 + 9


def test_what_every_next_turn_begins_with_is_read_ahead_while_there_is_nothing_else_to_do():
    world = World()
    one = prompt("one", "x" * 60)
    world.apply(Add(one, world.tokenizer.encode_text("x" * 60), next_turn=(7, 8, 9)))
    world.run()
    ((_, held),) = list(world.loop.scheduler.memory._cache.items())
    assert (len(held), held[-3:]) == (73, [7, 8, 9])
    assert world.runner.log[-1] == (4, 0), "the last token made and what follows it, in one step"
    assert world.ended("one").completion_tokens == 10
    assert world.text("one") == alone(one)[0], "nothing of it is text"
    before = world.runner.num_tokens
    world.apply(Add(prompt("two"), [*held, 5, 6]))
    world.run()
    assert world.ended("two").cached_tokens == 73
    assert world.runner.num_tokens - before == 2 + 9


def test_nothing_is_read_ahead_before_a_pause_in_which_nobody_came():
    world = World()
    world.apply(Add(prompt("one", max_tokens=2), [1] * 40, next_turn=(7, 8)))
    world.loop.run_once()
    world.loop.run_once()
    steps = len(world.runner.log)
    wait_s = world.loop.run_once()
    assert wait_s is not None and 0.03 < wait_s <= AHEAD_AFTER_NS / 1e9
    assert len(world.runner.log) == steps
    world.clock.now_ns += AHEAD_AFTER_NS
    assert world.loop.run_once() == 0.0
    assert len(world.runner.log) == steps + 1


def test_whoever_comes_is_served_before_anything_is_read_ahead():
    world = World()
    world.apply(Add(prompt("one", max_tokens=2), [1] * 40, next_turn=(7, 8)))
    world.loop.run_once()
    world.loop.run_once()
    assert world.ended("one") and len(world.loop.scheduler.ahead) == 1
    world.add(prompt("new", "y" * 20))
    world.run()
    assert world.loop.scheduler.ahead == []
    assert [chunk for chunk, _ in world.runner.log if chunk] == [40, 20]


@pytest.mark.parametrize("end", ["cancel", "stop string"])
def test_nothing_is_read_ahead_of_a_conversation_that_cannot_go_on_like_this(end):
    world = World()
    text, _ = alone(prompt("free", "x" * 40))
    stop = (text[2:5],) if end == "stop string" else ()
    one = prompt("one", "x" * 40, stop=stop)
    world.apply(Add(one, world.tokenizer.encode_text("x" * 40), next_turn=(7, 8)))
    world.loop.run_once()
    world.loop.run_once()
    if end == "cancel":
        world.apply(Cancel("one"))
    world.run()
    assert world.ended("one").finish_reason == ("cancelled" if end == "cancel" else "stop")
    assert [chunk for chunk, _ in world.runner.log if chunk] == [40]


def test_a_failure_in_reading_ahead_is_nobodys():
    def fail(ids: list[str]) -> None:
        if world.loop.scheduler.ahead:
            raise RuntimeError("no")

    world = World(before_step=fail)
    world.apply(Add(prompt("one", max_tokens=3), [1] * 40, next_turn=(7, 8)))
    world.run()
    assert world.kinds("one")[-1] == "Ended"
    assert world.loop.scheduler.memory.blocks.num_owned == 0
    world.add(prompt("two"))
    world.run()
    assert world.ended("two").completion_tokens == 10


def test_a_bias_for_a_token_that_the_model_lacks_is_refused():
    world = World()
    world.add(prompt("bias", sampling=Sampling(logit_bias={64: 1.0})))
    world.run()
    assert (world.failed("bias").code, world.failed("bias").param) == ("invalid_request", "logit_bias")
    assert "63" in world.failed("bias").message
    assert world.runner.log == []


def test_a_token_that_only_the_tokenizer_knows_is_refused_before_any_step():
    """On a GPU an embedding that is looked up out of range ends the process."""
    world = World()
    world.apply(Add(prompt("new"), [1, 64, 2]))
    world.run()
    assert (world.failed("new").code, world.failed("new").param) == ("invalid_request", "prompt")
    assert "64" in world.failed("new").message and "63" in world.failed("new").message
    world.apply(Add(prompt("one", max_tokens=2), [1] * 40, next_turn=(7, 64)))
    world.run()
    assert all(64 not in slot for slot in world.runner.slots), "nor is it read ahead"
    assert world.ended("one").completion_tokens == 2


@pytest.mark.parametrize("strange", [64, -1])
def test_an_end_that_the_model_cannot_make_bans_nothing(strange: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(TinyTokenizer, "eos_ids", frozenset({0, strange}))
    world = World()
    wants_the_last = Sampling(logit_bias={63: 100.0}, logprobs=0)
    world.apply(Add(prompt("a", sampling=wants_the_last), [1, 2, 3]))
    world.run()
    infos = [info for output in world.outputs("a") if isinstance(output, Piece) for info in output.info]
    assert [info.token_id for info in infos] == [63] * 10


def test_two_conversations_that_begin_alike_both_keep_their_ends_while_there_is_room():
    world = World()
    beginning = [1 + n % 60 for n in range(100)]
    for id, question in (("a", [7] * 40), ("b", [9] * 20)):
        world.apply(Add(prompt(id), beginning + question))
        world.run()
    assert world.ended("b").cached_tokens == 100
    held = [tokens for _, tokens in world.loop.scheduler.memory._cache.items()]
    for id, tokens in zip(("a again", "b again"), sorted(held, key=len, reverse=True), strict=True):
        world.apply(Add(prompt(id), [*tokens, 5, 6]))
        world.run()
        assert world.ended(id).cached_tokens == len(tokens)


def test_a_cancel_costs_no_further_step_and_frees_everything():
    world = World()
    world.add(prompt("a", max_tokens=200))
    for _ in range(5):
        world.loop.run_once()
    world.apply(Cancel("a"), Cancel("a"), Cancel("unknown"))
    steps = len(world.runner.log)
    world.run()
    assert len(world.runner.log) == steps
    ended = world.ended("a")
    assert (ended.finish_reason, ended.completion_tokens) == ("cancelled", 5)
    assert world.num_tokens_told()["a"] == 5
    assert world.loop.scheduler.memory.blocks.num_owned == 0


def test_a_cancel_in_line_or_in_the_middle_of_a_prefill_ends_at_once():
    world = World(max_batch=1, prefill_chunk_tokens=20)
    world.add(prompt("long", "x" * 100))
    world.add(prompt("line"))
    world.loop.run_once()
    world.loop.run_once()
    world.apply(Cancel("long"), Cancel("line"))
    world.run()
    assert world.runner.num_tokens == 40
    assert world.ended("long").first_token_ns is None
    assert world.ended("line").begun_ns is None
    world.add(prompt("again", "x" * 100))
    world.run()
    assert world.ended("again").cached_tokens == 40
    assert world.text("again") == alone(prompt("again", "x" * 100))[0]


def test_a_grant_pauses_and_resumes_and_its_time_is_summed():
    world = World()
    world.add(prompt("a", granted_tokens=2))
    world.run()
    assert world.kinds("a")[-1] == "Paused"
    assert world.num_tokens_told()["a"] == 2
    world.apply(Grant("a", 1))
    world.run()
    assert world.num_tokens_told()["a"] == 2
    world.apply(Grant("a", 100))
    world.run()
    outputs = world.outputs("a")
    (paused,) = (output for output in outputs if isinstance(output, Paused))
    (resumed,) = (output for output in outputs if isinstance(output, Resumed))
    assert paused.made == 2
    assert world.ended("a").paused_ns == resumed.at_ns - paused.at_ns > 0
    assert world.text("a") == alone(prompt("a"))[0]


def test_a_grant_that_is_taken_back_pauses_at_once():
    world = World()
    world.add(prompt("a", max_tokens=50, granted_tokens=40))
    for _ in range(5):
        world.loop.run_once()
    world.apply(Grant("a", 3))
    steps = len(world.runner.log)
    world.run()
    last = world.outputs("a")[-1]
    assert isinstance(last, Paused) and last.made == 5
    assert len(world.runner.log) == steps


def test_text_held_back_does_not_use_up_a_grant():
    lone, _ = alone(prompt("a"))
    world = World()
    # The whole text is the beginning of a stop string, so nothing can be shown before the end.
    world.add(prompt("a", granted_tokens=1, stop=(lone + "never",)))
    world.run()
    assert "Paused" not in world.kinds("a")
    assert world.text("a") == lone


def test_a_cancelled_sleeper_counts_its_pause():
    world = World()
    world.add(prompt("a", granted_tokens=2))
    world.run()
    world.apply(Cancel("a"))
    world.run()
    assert world.ended("a").paused_ns > 0


def test_slow_motion_keeps_its_pace_and_leaves_the_others_alone():
    world = World()
    world.add(prompt("slow", tokens_per_second=10, max_tokens=20))
    world.add(prompt("fast", max_tokens=20))
    world.run()
    slow, fast = world.ended("slow"), world.ended("fast")
    assert slow.first_token_ns and slow.last_token_ns
    assert 1.9e9 <= slow.last_token_ns - slow.first_token_ns <= 2.1e9
    assert fast.at_ns < slow.first_token_ns + 0.3e9


def test_seeds_repeat_and_differ():
    texts = {}
    for seed in (1, 2, None):
        sampling = Sampling(temperature=1.0, seed=seed)
        for again in range(2):
            world = World()
            world.add(prompt("a", sampling=sampling, max_tokens=30))
            world.add(prompt("b", "other", sampling=sampling))
            world.run()
            texts[seed, again] = world.text("a")
    assert texts[1, 0] == texts[1, 1] != texts[2, 0] == texts[2, 1]


def test_log_probabilities_come_one_a_token():
    world = World()
    world.add(prompt("a", sampling=Sampling(logprobs=3)))
    world.run()
    infos = [info for output in world.outputs("a") if isinstance(output, Piece) for info in output.info]
    assert len(infos) == 10
    assert b"".join(info.data for info in infos).decode(errors="replace") == world.text("a")
    assert all(len(info.top) == 3 and info.top[0][2] == info.logprob for info in infos)


def test_the_end_of_sequence_ends_unless_it_is_ignored():
    until_end = Prompt(id="a", text="q", max_tokens=200, sampling=Sampling(logit_bias={0: 3.9}))
    world = World()
    world.add(until_end)
    world.run()
    ended = world.ended("a")
    assert ended.finish_reason == "stop" and ended.completion_tokens < 50
    world.add(prompt("b", "q", max_tokens=200, sampling=until_end.sampling))
    world.run()
    assert world.ended("b").finish_reason == "length"
    assert world.text("b").startswith(world.text("a"))
    late = ended.completion_tokens + 5
    world.add(Prompt(id="c", text="q", max_tokens=200, sampling=until_end.sampling, min_tokens=late))
    world.run()
    assert world.ended("c").completion_tokens >= late


def test_an_end_that_is_ignored_is_never_drawn():
    """Not even when the model wants nothing else: it would be a step without a word."""
    world = World()
    wants_to_end = Sampling(logit_bias={0: 100.0}, logprobs=0)
    world.add(prompt("a", "q", max_tokens=20, sampling=wants_to_end))
    world.run()
    infos = [info for output in world.outputs("a") if isinstance(output, Piece) for info in output.info]
    assert len(infos) == 20 and all(info.token_id != 0 for info in infos)


class Offender:
    """Fails every attempt that a given sequence is part of."""

    def __init__(self, id: str, error: Exception) -> None:
        self.id = id
        self.error = error

    def __call__(self, ids: list[str]) -> None:
        if self.id in ids:
            raise self.error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RuntimeError("a shape is wrong"), "engine_error"),
        (MemoryError(), "out_of_memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "out_of_memory"),
    ],
)
def test_only_the_offender_fails(error: Exception, code: str):
    world = World(before_step=Offender("bad", error))
    for id in ("a", "bad", "b"):
        world.add(prompt(id, id * 9))
    world.run()
    assert world.failed("bad").code == code
    for id in ("a", "b"):
        assert world.text(id) == alone(prompt(id, id * 9))[0]
    assert world.loop.scheduler.memory.blocks.num_owned == 0
    world.add(prompt("later", "bad" * 9))
    world.run()
    assert world.ended("later").cached_tokens == 0, "what failed is no prefix"
    assert world.text("later") == alone(prompt("later", "bad" * 9))[0]


def test_out_of_memory_gives_the_cached_prefixes_back_first():
    world = World(before_step=Offender("bad", MemoryError()))
    world.add(prompt("old", "o" * 60))
    world.run()
    assert world.loop.scheduler.memory.blocks.num_cached > 0
    world.add(prompt("bad"))
    world.run()
    assert world.loop.scheduler.memory.blocks.num_cached == 0
    assert world.runner.slots == [[] for _ in world.runner.slots]


def test_a_failed_copy_fails_the_one_that_wanted_it():
    world = World()
    world.add(prompt("a", "x" * 60, max_tokens=30))
    world.loop.run_once()

    def fail(src_slot: int, dst_slot: int, num_tokens: int) -> None:
        raise RuntimeError("no copy today")

    world.runner.copy = fail  # type: ignore[method-assign]
    world.add(prompt("b", "x" * 60))
    world.run()
    assert world.failed("b").code == "engine_error"
    assert world.ended("a").completion_tokens == 30


def test_a_lost_device_fails_everyone_and_ends_the_loop():
    world = World(before_step=Offender("a", RuntimeError("CUDA error: device-side assert triggered")))
    for id in ("a", "b"):
        world.add(prompt(id))
    with pytest.raises(RuntimeError, match="CUDA error"):
        world.run()
    assert {world.failed(id).code for id in "ab"} == {"engine_error"}


def test_a_step_has_begun_until_it_is_done_and_again_with_every_attempt():
    began_ns: list[int] = []

    def fail(ids: list[str]) -> None:
        began_ns.append(world.loop.step_began_ns or 0)
        if len(ids) > 1:
            raise RuntimeError("not together")

    world = World(before_step=fail)
    world.add(prompt("a"))
    world.add(prompt("b"))
    assert world.loop.step_began_ns is None
    world.loop.run_once()
    assert len(began_ns) == 3 and 0 < began_ns[0] < began_ns[1] < began_ns[2]
    assert world.loop.step_began_ns is None


def test_waiting_for_whoever_takes_the_outputs_is_no_part_of_a_step():
    world = World()
    began_ns: list[int] = []

    def take_long(outputs: list[Output]) -> None:
        world.clock.now_ns += 60 * 10**9

    world.loop._outbox._emit = take_long
    world.add(prompt("a"))
    world.runner.fail = lambda chunks, decode: began_ns.append(world.loop.step_began_ns or 0)
    world.loop.run_once()
    assert began_ns[0] > 60e9


def test_steps_are_told_only_while_watched():
    world = World(prefill_chunk_tokens=100)
    world.add(prompt("a", "x" * 40, max_tokens=3))
    world.loop.run_once()
    assert world.steps == []
    world.apply(Watch(True))
    world.add(prompt("b", "y" * 20, max_tokens=3))
    world.loop.run_once()
    (record,) = world.steps
    assert record.rows == [("b", "prefill", 20), ("a", "decode", 1)]
    assert (record.kv_used_blocks, record.kv_total_blocks) == (5, 64)
    assert record.duration_ns > 0
    world.apply(Watch(False))
    world.run()
    assert len(world.steps) == 1


def test_the_same_id_twice_is_the_same_work():
    world = World()
    world.add(prompt("a"))
    world.add(prompt("a", "something else"))
    world.run()
    assert world.kinds("a").count("Ended") == 1
    assert world.text("a") == alone(prompt("a"))[0]


def test_the_thread_sleeps_without_work_and_ends_everything_at_stop():
    told: queue.SimpleQueue[list[Output]] = queue.SimpleQueue()
    commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
    loop = Loop(TinyRunner(), TinyTokenizer(), LoopSettings(num_blocks=64, max_batch=4), emit=told.put)
    thread = threading.Thread(target=loop.run, args=(commands,))
    thread.start()
    try:
        commands.put(Add(prompt("a"), [1, 2, 3]))
        outputs: list[Output] = []
        while not any(isinstance(output, Ended) for output in outputs):
            outputs += told.get(timeout=20)
        commands.put(Add(prompt("b", granted_tokens=1), [1, 2, 3]))
        outputs = []
        while not any(isinstance(output, Paused) for output in outputs):
            outputs += told.get(timeout=20)
        steps = loop.num_steps
    finally:
        commands.put(Stop())
        thread.join(timeout=20)
    assert not thread.is_alive()
    assert loop.num_steps == steps
    (failed,) = told.get(timeout=20)
    assert (failed.id, getattr(failed, "code", None)) == ("b", "server_shutdown")


@pytest.mark.parametrize("max_tokens", [1, 2])
def test_a_step_that_reads_ahead_is_told_as_such_and_none_before_it(max_tokens: int) -> None:
    world = World()
    world.apply(Watch(True))
    world.apply(Add(prompt("one", max_tokens=max_tokens), [1] * 40, next_turn=(7, 8)))
    world.run()
    phases = [phase for record in world.steps for _, phase, _ in record.rows]
    assert phases == ["prefill", *["decode"] * (max_tokens - 1), "ahead"]
    assert world.steps[-1].rows == [("one", "ahead", 3)]
