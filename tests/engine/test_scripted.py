from __future__ import annotations

import asyncio
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.script import DEFAULT_SCRIPT, Script
from app.engine.scripted import ScriptedEngine
from app.errors import BadRequest, EngineLoading, EngineLost, ServerShutdown
from app.generation import (
    Begun,
    Ended,
    Engine,
    Failed,
    Output,
    Paused,
    Piece,
    Resumed,
    StepRecord,
    TokenInfo,
    Waiting,
)
from app.prompt import Message, Prompt, Sampling

ABC: Script = [(b"a", 0), (b"b", 0), (b"c", 0), (b"d", 0)]


class Clock:
    """Advances by a millisecond each time it is read."""

    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        self.now_ns += 1_000_000
        return self.now_ns


class Reader:
    def __init__(self) -> None:
        self.outputs: list[Output] = []
        self.over = asyncio.Event()

    def __call__(self, output: Output) -> None:
        assert not self.over.is_set(), "nothing follows the last output"
        self.outputs.append(output)
        if isinstance(output, Ended | Failed):
            self.over.set()

    @property
    def kinds(self) -> list[type]:
        return [type(output) for output in self.outputs]

    @property
    def pieces(self) -> list[Piece]:
        return [output for output in self.outputs if isinstance(output, Piece)]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    @property
    def ended(self) -> Ended:
        assert isinstance(self.outputs[-1], Ended)
        return self.outputs[-1]

    @property
    def failed(self) -> Failed:
        assert isinstance(self.outputs[-1], Failed)
        return self.outputs[-1]


def send(engine: Engine, id: str = "x", **wishes) -> Reader:
    reader = Reader()
    messages = () if "text" in wishes else (Message("user", "say it now"),)
    engine.submit(Prompt(id, messages=messages, **wishes), reader)
    return reader


async def started(script: Script = ABC, **options) -> ScriptedEngine:
    engine = ScriptedEngine(script, **options)
    await engine.start()
    return engine


async def say(engine: ScriptedEngine, **wishes) -> Reader:
    reader = send(engine, **wishes)
    await reader.over.wait()
    return reader


async def manual(script: Script = ABC, **options) -> ScriptedEngine:
    return await started(script, manual=True, clock=Clock(), **options)


async def turn() -> None:
    """Let everything that was put on the event loop happen."""
    for _ in range(3):
        await asyncio.sleep(0)


async def test_a_script_is_said_token_by_token_and_ends():
    engine = await started()
    reader = await say(engine)
    assert reader.kinds == [Waiting, Begun, Piece, Piece, Piece, Piece, Ended]
    assert reader.text == "abcd" and reader.ended.finish_reason == "stop"
    assert (reader.ended.prompt_tokens, reader.ended.completion_tokens, engine.made["x"]) == (3, 4, 4)
    assert sum(piece.tokens for piece in reader.pieces) == 4


async def test_nothing_is_told_before_submit_has_returned():
    reader = send(await started())
    assert reader.outputs == []


async def test_each_token_takes_its_delay_and_stamps_are_in_order():
    began_ns = time.monotonic_ns()
    reader = await say(await started([(b"a", 30), (b"b", 10), (b"c", 20)]))
    first, second, third = [piece.at_ns for piece in reader.pieces]
    assert first - began_ns >= 30e6 and second - first >= 10e6 and third - second >= 20e6
    ended = reader.ended
    assert ended.begun_ns is not None and began_ns <= ended.begun_ns <= first
    assert (ended.first_token_ns, ended.last_token_ns) == (first, third) and ended.at_ns >= third


async def test_slow_motion_stretches_the_script():
    began_ns = time.monotonic_ns()
    await say(await started(), tokens_per_second=50.0)
    assert time.monotonic_ns() - began_ns >= 80e6


async def test_max_tokens_cuts_it_and_ignore_eos_goes_round():
    engine = await started()
    assert (await say(engine, max_tokens=2)).ended.finish_reason == "length"
    exact = await say(engine, max_tokens=4)
    assert (exact.text, exact.ended.finish_reason) == ("abcd", "length")
    again = await say(engine, max_tokens=10, ignore_eos=True)
    assert (again.text, again.ended.finish_reason) == ("abcdabcdab", "length")
    longer = await say(engine, min_tokens=6)
    assert (longer.text, longer.ended.finish_reason) == ("abcdabcd", "stop")


async def test_characters_are_never_cut_and_the_tail_of_one_is_flushed():
    teapot = "🫖".encode()
    tokens = [teapot[:1], teapot[1:3], teapot[3:] + b"!", teapot[:2]]
    reader = await say(await started([(token, 0) for token in tokens]))
    assert [(piece.text, piece.tokens) for piece in reader.pieces] == [("🫖!", 3), ("\ufffd", 1)]


async def test_a_stop_string_across_tokens_is_never_shown():
    reader = await say(await started([(b"one ", 0), (b"tw", 0), (b"o th", 0), (b"ree", 0)]), stop=("two",))
    assert reader.text == "one " and reader.ended.finish_reason == "stop" and reader.ended.stop == "two"
    assert reader.ended.completion_tokens == sum(piece.tokens for piece in reader.pieces) == 3


async def test_what_only_looked_like_a_stop_string_is_shown():
    reader = await say(await started([(b"one ", 0), (b"tw", 0), (b"in", 0)]), stop=("two",))
    assert reader.text == "one twin" and reader.ended.stop is None


@given(st.lists(st.integers(1, 9), min_size=1, max_size=40))
def test_however_the_bytes_are_cut_the_text_is_the_same(sizes: list[int]):
    data = "Ein कप Tee 🫖, bitte.".encode()
    script: list[tuple[bytes, float]] = []
    for size in [*sizes, len(data)]:
        script.append((data[:size], 0))
        data = data[size:]

    async def run() -> Reader:
        return await say(await started(script))

    assert asyncio.run(run()).text == "Ein कप Tee 🫖, bitte."


async def test_the_default_script_is_said_whole():
    reader = await say(await started([(data, 0) for data, _ in DEFAULT_SCRIPT]), max_tokens=4000)
    assert reader.text == b"".join(data for data, _ in DEFAULT_SCRIPT).decode()
    assert "\ufffd" not in reader.text


async def test_cancel_ends_it_and_shows_what_was_held_back():
    engine = await manual([(b"one ", 0), (b"tw", 0), (b"in", 0)])
    reader = send(engine, stop=("two",))
    engine.step()
    engine.step()
    engine.cancel("x")
    engine.cancel("nobody")
    await turn()
    assert reader.text == "one tw" and reader.ended.finish_reason == "cancelled"
    assert reader.ended.completion_tokens == 2


async def test_one_that_is_cancelled_in_line_never_begins():
    engine = await manual(slots=1)
    send(engine, "a")
    reader = send(engine, "b")
    await turn()
    engine.cancel("b")
    await turn()
    assert reader.kinds == [Waiting, Ended]
    assert reader.ended.begun_ns is None and reader.ended.first_token_ns is None


async def test_a_grant_that_is_used_up_pauses_and_a_new_one_resumes():
    engine = await manual()
    reader = send(engine, granted_tokens=2)
    for _ in range(4):
        engine.step()
    assert engine.made["x"] == 2 and reader.kinds == [Waiting, Begun, Piece, Piece, Paused]
    engine.grant("x", 1)  # never fewer than before
    await turn()
    assert reader.kinds[-1] is Paused
    engine.grant("x", 3)
    engine.grant("x", 4)
    await turn()
    engine.step()
    engine.step()
    assert reader.kinds[5:] == [Resumed, Piece, Piece, Ended]
    paused, resumed = reader.outputs[4], reader.outputs[5]
    assert isinstance(paused, Paused) and isinstance(resumed, Resumed) and paused.made == 2
    assert reader.ended.paused_ns == resumed.at_ns - paused.at_ns > 0


async def test_a_paused_one_gives_its_place_and_comes_back_before_the_line():
    engine = await manual(slots=1)
    first, second, third = send(engine, "a", granted_tokens=1), send(engine, "b"), send(engine, "c")
    engine.step()
    assert [reader.kinds[-1] for reader in (first, second)] == [Paused, Begun]
    engine.grant("a", 99)
    await turn()
    assert first.kinds.count(Resumed) == 0, "the batch is full"
    for _ in range(4):
        engine.step()
    assert [reader.kinds[-1] for reader in (first, second, third)] == [Resumed, Ended, Waiting]


async def test_an_engine_that_cannot_pause_says_so_and_goes_on():
    engine = await started(can_pause=False)
    assert not engine.model.can_pause
    assert (await say(engine, granted_tokens=1)).text == "abcd"


async def test_the_line_has_positions_that_move_up():
    engine = await manual(slots=1)
    readers = [send(engine, id) for id in "abc"]
    await turn()

    def positions(reader: Reader) -> list[int]:
        return [output.position for output in reader.outputs if isinstance(output, Waiting)]

    assert [positions(reader) for reader in readers] == [[0], [0], [1]]
    for _ in range(4):
        engine.step()
    assert readers[1].kinds[-1] is Begun and positions(readers[2]) == [1, 0]


async def test_neighbours_step_together():
    engine = await manual(slots=2)
    steps: list[StepRecord] = []
    end = engine.watch_steps(steps.append)
    send(engine, "a"), send(engine, "b"), send(engine, "c")
    engine.step()
    engine.step()
    end()
    engine.step()
    assert engine.made == {"a": 3, "b": 3}
    assert [step.rows for step in steps] == [
        [("a", "prefill", 1), ("b", "prefill", 1)],
        [("a", "decode", 1), ("b", "decode", 1)],
    ]
    assert steps[0].waiting == 1 and 0 < steps[0].kv_used_blocks < steps[0].kv_total_blocks


async def test_it_fails_at_the_token_it_was_told_to():
    reader = await say(await started(fail_at=2))
    assert reader.text == "ab" and reader.failed.code == "engine_error"


async def test_a_prompt_over_the_context_is_refused_with_both_numbers():
    reader = await say(await started(context_tokens=3))
    [failed] = reader.outputs
    assert reader.failed is failed and reader.failed.code == "prompt_too_long"
    assert "has 3 tokens" in reader.failed.message and "holds 3" in reader.failed.message
    assert reader.failed.param == "messages"
    of_text = await say(await started(context_tokens=3), text="one two three")
    assert of_text.failed.param == "prompt"
    assert (await say(await started(context_tokens=5))).ended.completion_tokens == 2


async def test_words_are_counted():
    engine = await started()
    conversation = (Message("user", "one two"), Message("user", "three"))
    assert await engine.count_tokens(Prompt("", messages=conversation)) == 3
    assert await engine.count_tokens(Prompt("", text="raw text")) == 2


async def test_logprobs_are_certain():
    reader = await say(await started(ABC[:1]), sampling=Sampling(logprobs=2))
    assert reader.pieces[0].info == [TokenInfo(0, b"a", 0.0, [(0, b"a", 0.0)])]


async def test_an_engine_that_is_not_ready_refuses():
    engine = ScriptedEngine(ABC)
    with pytest.raises(EngineLoading):
        send(engine)
    await engine.start()
    reader = send(engine)
    with pytest.raises(BadRequest, match="already running"):
        send(engine)
    await engine.stop()
    assert reader.failed.code == "server_shutdown"
    with pytest.raises(ServerShutdown):
        send(engine)


async def test_losing_the_engine_fails_all_and_it_recovers():
    engine = await manual(slots=1)
    running, waiting = send(engine, "a"), send(engine, "b")
    engine.step()
    engine.lose()
    assert running.text == "a" and running.failed.code == waiting.failed.code == "engine_lost"
    assert engine.status.state == "restarting"
    with pytest.raises(EngineLost):
        send(engine)
    engine.recover()
    assert (engine.status.state, send(engine, "a").outputs) == ("ready", [])
    for _ in range(4):
        engine.step()
    assert engine.made["a"] == 1 + 4


async def test_its_sink_may_lose_the_engine():
    engine = await manual()
    neighbour = Reader()

    def sink(output: Output) -> None:
        if isinstance(output, Piece):
            engine.lose()

    engine.submit(Prompt("a", text="x"), sink)
    engine.submit(Prompt("b", text="x"), neighbour)
    engine.step()
    assert neighbour.failed.code == "engine_lost" and engine.made == {"a": 1}


def test_an_empty_script_is_no_script():
    with pytest.raises(ValueError, match="at least one token"):
        ScriptedEngine([])
