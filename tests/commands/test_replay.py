"""`firstword replay`: what is played, what is shown, and when."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands.replay import arrivals_of
from app.replay.recording import recording_bytes
from app.timeline.arrivals import Arrival
from tests.replay.samples import sample

PIECES = [("Good ", 1, 100.0), ("morn", 1, 140.0), ("ing,\x1b[2J all.", 2, 260.0)]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "good.json"
    path.write_bytes(recording_bytes(sample(PIECES)))
    return str(path)


def run(*args: str):
    return CliRunner().invoke(app, ["replay", *args])


def test_it_is_marked_as_a_recording_and_ends_with_both_strips_and_the_recorded_numbers(file: str) -> None:
    result = run(file, "--speed", "4")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert lines[0] == "RECORDING: A sample"
    assert "tiny (cpu, A processor, 2026-05-04T12:30:00Z). Played at 4 times its speed." in lines[1]
    assert "user: Say hello." in result.output and "Good morning,\ufffd[2J all." in result.output
    streamed, whole = lines.index("Streamed  (played just now)"), lines.index("All at once")
    assert lines[whole + 1].count("░") > lines[streamed + 1].count("░") > 5
    assert lines[streamed + 3] == lines[whole + 3], "one axis for both"
    assert "First word  100 ms" in lines and "Last word   260 ms" in lines
    assert "Gaps        median 80 ms, 95 of 100 below 116 ms, longest 120 ms" in lines
    assert "Tokens      4 at 18.8 a second" in lines


def test_all_at_once_the_first_word_is_the_last(file: str) -> None:
    lines = run(file, "--whole", "--speed", "4").output.splitlines()
    assert "All at once  (played just now)" in lines
    assert "First word  270 ms" in lines and "Last word   270 ms" in lines
    assert "Gaps        none: it came in one piece" in lines


@pytest.mark.parametrize(("speed", "least_s"), [("1", 0.27), ("0.5", 0.54)])
def test_it_takes_as_long_as_it_took(file: str, speed: str, least_s: float) -> None:
    began_s = time.monotonic()
    assert run(file, "--speed", speed).exit_code == 0
    assert time.monotonic() - began_s >= least_s


def test_json_gives_the_numbers_at_once(file: str) -> None:
    told = json.loads(run(file, "--json").stdout)
    assert told["recording"] == "sample" and told["model"] == "tiny" and told["whole"] is False
    assert told["numbers"]["ttft_ms"] == 100.0 and told["numbers"]["tokens"] == 4
    whole = json.loads(run(file, "--json", "--whole").stdout)
    assert whole["numbers"]["ttft_ms"] == 270.0 and whole["numbers"]["chunks"] == 1


def test_arrivals_count_each_word_where_it_begins() -> None:
    recording = sample(PIECES)
    assert arrivals_of(recording) == [Arrival(100.0, 1, 1), Arrival(140.0, 1, 1), Arrival(260.0, 2, 1)]
    assert arrivals_of(recording, whole=True) == [Arrival(270.0, 4, 3)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"not json", "is not JSON"),
        (b"{}", 'format is not "firstword-recording"'),
        (recording_bytes(sample()).replace(b'"version": 1', b'"version": 9'), "version is 9"),
        (recording_bytes(sample()).replace(b'"Hello', b'"Hallo', 1), "reply.text is not the text"),
        (None, "no such file"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "bad.json"
    if content is not None:
        path.write_bytes(content)
    result = run(str(path))
    assert result.exit_code == 1
    (line,) = result.output.strip().splitlines()
    assert line.startswith("firstword: ") and says in line


@pytest.mark.parametrize("args", [["--speed", "5"], ["--speed", "0"], ["--slow"]])
def test_wrong_options_are_wrong_use(file: str, args: list[str]) -> None:
    assert run(file, *args).exit_code == 2
