"""`firstword measure` as people and programs run it, against real servers."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.server import Running

TEXT = "one two three four five six seven eight nine ten."


def run(*args: str, **more: Any) -> Any:
    return CliRunner().invoke(app, ["measure", *args], **more)


@pytest.fixture
def url(server: Callable[..., Running]) -> str:
    return server(ScriptedEngine(spoken(TEXT, 10))).url


@pytest.mark.parametrize("dialect", ["ndjson", "websocket", "openai", "anthropic", "plain"])
def test_json_is_exactly_the_agreed_shape(url: str, dialect: str) -> None:
    result = run(url, "--dialect", dialect, "-n", "1", "--warm-up", "0", "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert list(told) == ["streamed", "whole", "cost_of_streaming", "qoe", "fluidity"]
    assert list(told["streamed"]) == ["ttft_ms", "last_ms", "gaps_ms", "tokens", "chunks"]
    assert list(told["streamed"]["gaps_ms"]) == ["p50", "p95", "p99", "max"]
    assert list(told["whole"]) == ["total_ms"]
    # Plain text tells no tokens, and on a busy machine two of its pieces may come in one read.
    assert told["streamed"]["tokens"] == 10 or dialect == "plain"
    assert 1 < told["streamed"]["chunks"] <= 10
    assert 10 <= told["streamed"]["ttft_ms"] < told["streamed"]["last_ms"]
    ratio = told["streamed"]["last_ms"] / told["whole"]["total_ms"]
    assert told["cost_of_streaming"] == pytest.approx(ratio, abs=0.001)


def test_the_screen_has_both_strips_the_numbers_and_their_formulas(url: str) -> None:
    result = run(url, "-n", "1")
    assert result.exit_code == 0, result.output
    for piece in ("Streamed", "All at once", "First word", "Gaps p95", "Cost of streaming", "░"):
        assert piece in result.output
    for name in ("ttft", "last", "gap_chunk", "tokens_per_second", "streaming_cost", "qoe", "fluidity"):
        assert f"\n{name} = " in result.output
    assert "1 before to warm up, not counted" in " ".join(result.output.split())


def test_the_warm_up_is_asked_and_not_counted(server: Callable[..., Running]) -> None:
    engine = ScriptedEngine(spoken(TEXT, 1))
    result = run(server(engine).url, "-n", "2", "--warm-up", "3", "--no-whole", "--json")
    assert len(engine.made) == 5
    assert json.loads(result.stdout)["whole"]["total_ms"] is None


def test_an_open_loop_counts_from_when_questions_were_due(server: Callable[..., Running]) -> None:
    """One slot and a question every 20 ms that takes 100 ms: the median question has waited."""
    engine = ScriptedEngine(spoken(TEXT, 10), slots=1)
    args = ("-n", "6", "--rate", "50", "--no-whole", "--warm-up", "0", "--json")
    told = json.loads(run(server(engine).url, *args).stdout)
    assert told["streamed"]["ttft_ms"] > 150


def test_the_report_is_written(url: str, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    assert run(url, "-n", "1", "--html", str(file), "--json").exit_code == 0
    page = file.read_text()
    assert page.startswith("<!doctype html>")
    assert url in page


def test_a_reply_that_fails_is_exit_code_1(server: Callable[..., Running]) -> None:
    url = server(ScriptedEngine(spoken(TEXT, 1), fail_at=4)).url
    first = run(url, "-n", "1", "--json")
    later = run(url, "-n", "1", "--warm-up", "0", "--json")
    assert (first.exit_code, later.exit_code) == (1, 1)
    assert "the first question failed" in first.stderr
    assert json.loads(later.stdout)["streamed"]["ttft_ms"] is None
    assert "firstword: The script failed here" in later.stderr


def test_a_server_that_refuses_the_socket_has_answered(url: str) -> None:
    nowhere = url.replace("http", "ws") + "/nowhere"
    result = run(nowhere, "-n", "1", "--warm-up", "0", "--dialect", "websocket", "--json")
    assert result.exit_code == 1 and "instead of a WebSocket" in result.stderr


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("ftp://h",), "must begin with"),
        (("http://h", "--dialect", "morse"), "must be one of"),
        (("http://h", "--key-env", "FIRSTWORD_NO_SUCH_KEY"), "no such environment variable"),
        (("http://h", "-n", "0"), "greater than or equal to 1"),
    ],
)
def test_wrong_usage_is_exit_code_2(args: tuple[str, ...], said: str) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_nobody_there_is_exit_code_3() -> None:
    result = run("http://127.0.0.1:1", "--json")
    assert result.exit_code == 3
    assert result.stderr.startswith("firstword: cannot connect to 127.0.0.1:1")


def test_the_key_is_taken_from_the_environment_and_shown_to_nobody(server: Callable[..., Running]) -> None:
    url = server(ScriptedEngine(spoken(TEXT, 1)), api_key="open-sesame").url
    args = (url, "--dialect", "openai", "-n", "1")
    assert run(*args).exit_code == 1
    result = run(*args, "--key-env", "KEY", env={"KEY": "open-sesame"})
    assert result.exit_code == 0, result.output
    assert "sesame" not in result.output


def test_help_documents_the_exit_codes() -> None:
    for command in ("measure", "doctor", "models"):
        result = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"})
        assert "Exit codes: 0" in " ".join(result.output.split())


def test_a_server_that_speaks_no_http_was_reached_but_did_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def hang_up() -> None:
            while True:
                try:
                    listener.accept()[0].close()
                except OSError:
                    return

        thread = threading.Thread(target=hang_up)
        thread.start()
        result = run(f"http://127.0.0.1:{listener.getsockname()[1]}", "-n", "1")
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)
    assert result.exit_code == 1, result.output
    assert "does not answer in HTTP" in " ".join(result.output.split())


def test_a_report_that_cannot_be_written_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    result = run("http://127.0.0.1:9", "--html", str(tmp_path / "no" / "x.html"))
    assert result.exit_code == 1
    assert "is no folder" in " ".join(result.output.split())


def test_a_prompt_that_is_no_utf8_is_wrong_usage() -> None:
    result = run("http://127.0.0.1:9", "--prompt", "\udcff")
    assert result.exit_code == 2
    assert "UTF-8" in result.output
