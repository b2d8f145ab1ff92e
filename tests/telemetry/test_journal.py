"""The journal's lines: whole, parseable, and silent about what people said."""

import json

from app.events import Done, Error, Timings, Usage
from app.prompt import Message, Prompt
from app.reply.flow import Delivery
from app.reply.log import Reply
from app.telemetry.journal import Journal
from tests.reply.fake_engine import FakeEngine

SECRET = "my password is swordfish\n\x1b[31m"


def reply() -> Reply:
    prompt = Prompt(id="capability-123", messages=(Message("user", SECRET),), max_tokens=5)
    return Reply(prompt, FakeEngine(), Delivery(64, 16, 10, 60, "pause"), lambda: 0)


def lines_of(*events: object) -> list[str]:
    lines: list[str] = []
    journal = Journal(lines.append, now_epoch_s=lambda: 1764446400.1234)
    for event in events:
        journal.listen(reply(), event)  # type: ignore[arg-type]
    return lines


def test_a_finished_reply_is_one_line_of_json_with_its_numbers():
    usage = Usage(prompt_tokens=7, completion_tokens=5, total_tokens=12, cached_tokens=0)
    timings = Timings(1.0, 20.0, 21.0, 80.0, 0.0, 101.5)
    (line,) = lines_of(Done("capability-123", 5, "stop", usage, timings, 101.5))
    read = json.loads(line)
    assert read["finish_reason"] == "stop"
    assert read["completion_tokens"] == 5
    assert read["total_ms"] == 101.5
    assert read["at_epoch_s"] == 1764446400.123
    assert "\n" not in line


def test_a_failed_reply_names_its_code():
    (line,) = lines_of(Error("engine_lost", f"about {SECRET}", True, reply="capability-123", t=12.5))
    assert json.loads(line)["code"] == "engine_lost"


def test_no_line_holds_the_prompt_the_message_or_the_id_that_lets_readers_in():
    usage = Usage(1, 1, 2, 0)
    done = Done("capability-123", 1, "stop", usage, Timings(None, None, None, None, 0.0, 1.0), 1.0)
    for line in lines_of(done, Error("engine_lost", SECRET, True, t=1.0)):
        assert "swordfish" not in line and "capability" not in line and "\x1b" not in line


def test_what_happens_before_the_end_is_not_written():
    from app.events import Delta

    assert lines_of(Delta("capability-123", 1, "hello", 1, 1.0)) == []
