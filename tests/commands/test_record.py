"""`firstword record` against a real server."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.engine.scripted import ScriptedEngine
from app.replay.recording import load_recording
from tests.server import Running

SCRIPT = [(b"Two", 5.0), (b" words\x1b[2J.", 5.0)]
Server = Callable[..., Running]


def run(*args: str):
    return CliRunner().invoke(app, ["record", *args])


def test_the_answer_is_shown_and_saved_with_its_prompt_settings_model_and_machine(
    server: Server, tmp_path: Path
) -> None:
    out = tmp_path / "two-words.json"
    result = run(
        server(ScriptedEngine(SCRIPT)).url, "--prompt", "Say two words.", "--max-tokens", "9", "--seed", "5",
        "--temperature", "0.5", "-o", str(out),
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    recording = load_recording(out)
    assert recording.reply.text == "Two words\x1b[2J."
    assert recording.id == "two-words" and recording.title == "Say two words."
    assert recording.prompt.settings == {"max_tokens": 9, "temperature": 0.5, "seed": 5}
    assert recording.prompt.messages[0].content == "Say two words."
    assert recording.model.name == "scripted" and recording.hardware.cores > 0
    assert recording.made_by.startswith("firstword ") and recording.made_at.endswith("Z")
    assert socket.gethostname() not in out.read_text()
    assert "Two words\ufffd[2J." in result.output, "a model's text may not move the cursor"
    assert "2 tokens, first word after" in result.output


def test_json_is_all_that_is_on_stdout(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "a b.json"
    result = run(
        server(ScriptedEngine(SCRIPT)).url, "--prompt", "x", "--title", "Ho", "--json", "-o", str(out)
    )
    told = json.loads(result.stdout)
    recording = load_recording(out)
    assert told["file"] == str(out) and told["sha256"] == recording.reply.sha256
    assert (told["id"], told["title"], told["tokens"]) == (recording.id, "Ho", 2)
    assert recording.id != "a b", "a file's name that can be no id is none"


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["--prompt", " "], 1, "the server refused: messages[0].content is empty"),
        (["--prompt", "x", "--temperature", "3"], 2, "temperature"),
        (["--prompt", "x", "--max-tokens", "0"], 2, "max-tokens"),
        ([], 2, "--prompt"),
    ],
)
def test_wrong_use_says_what_is_wrong(
    server: Server, tmp_path: Path, args: list[str], code: int, says: str
) -> None:
    out = tmp_path / "a.json"
    result = run(server(ScriptedEngine(SCRIPT)).url, *args, "-o", str(out))
    assert result.exit_code == code and says in result.output
    assert not out.exists()


def test_a_reply_that_fails_is_not_saved(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    result = run(server(ScriptedEngine(SCRIPT, fail_at=1)).url, "--prompt", "x", "-o", str(out))
    assert result.exit_code == 1 and "the reply failed: The script failed here" in result.output
    assert not out.exists()


def test_a_folder_that_is_not_there_is_told_before_anything_is_asked(server: Server, tmp_path: Path) -> None:
    engine = ScriptedEngine(SCRIPT)
    result = run(server(engine).url, "--prompt", "x", "-o", str(tmp_path / "no" / "a.json"))
    assert result.exit_code == 1 and "no folder" in result.output
    result = run(server(engine).url, "--prompt", "x", "-o", str(tmp_path))
    assert result.exit_code == 1 and "is a folder" in result.output
    assert engine.made.total() == 0


def test_a_server_with_a_key_is_asked_with_it(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server(ScriptedEngine(SCRIPT), api_key="secret").url
    monkeypatch.setenv("THE_KEY", "secret")
    out = tmp_path / "a.json"
    assert run(url, "--prompt", "x", "-o", str(out)).exit_code == 1
    assert run(url, "--prompt", "x", "-o", str(out), "--key-env", "THE_KEY").exit_code == 0
    assert "secret" not in out.read_text()
    assert run(url, "--prompt", "x", "-o", str(out), "--key-env", "NO_SUCH_KEY").exit_code == 2


def test_where_nobody_listens_it_cannot_connect(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        result = run(url, "--prompt", "x", "-o", str(tmp_path / "a.json"))
    assert result.exit_code == 3 and "cannot connect" in result.output


@pytest.mark.parametrize("url", ["localhost", "http://a..b", "http://[::1"])
def test_an_address_that_is_none_is_wrong_use(tmp_path: Path, url: str) -> None:
    result = run(url, "--prompt", "x", "-o", str(tmp_path / "a.json"))
    assert result.exit_code == 2 and "no address" in result.output
