"""Every command: a table of how it ends, JSON for programs, its codes in its help, shell completion."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from app.cli import app
from app.commands import model_list
from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from tests.broken_servers import catalogue
from tests.commands.test_doctor import broken
from tests.server import Running

COMMANDS = ("serve", "record", "replay", "measure", "doctor", "models")
#: Nobody listens there: the port belongs to no service, and asking for it is refused at once.
NOBODY = "http://127.0.0.1:1"
SHIPPED = Path(__file__).parents[2] / "app" / "replay" / "recordings" / "little-code.json"

TABLE = [
    ("replay {shipped} --json", 0),
    ("replay {folder}/none.json --json", 1),
    ("replay {shipped} --speed 9 --json", 2),
    ("record {url} --prompt x -o {folder}/new.json --json", 0),
    ("record {url} --prompt x -o {folder}/no/new.json --json", 1),
    ("record {url} --prompt x", 2),
    ("record {nobody} --prompt x -o {folder}/new.json --json", 3),
    ("measure {url} -n 1 --warm-up 0 --json", 0),
    ("measure {failing}/generate-stream -n 1 --warm-up 0 --patience-s 5 --json", 1),
    ("measure {url} -n 0 --json", 2),
    ("measure gopher://h --json", 2),
    ("measure {nobody} --json", 3),
    ("doctor {url} --max-tokens 60 --json", 0),
    ("doctor gopher://h --json", 2),
    ("doctor {nobody} --json", 3),
    ("models --json", 0),
    ("models --colour", 2),
    ("serve --engine upstream --port 0", 1),
    ("serve --port many", 2),
    ("dance", 2),
]


@pytest.mark.parametrize(("line", "code"), TABLE, ids=[line for line, _ in TABLE])
def test_a_command_ends_as_the_table_says(
    line: str, code: int, server: Callable[..., Running], tmp_path: Path
) -> None:
    words = line.split()
    places = {"folder": str(tmp_path), "shipped": str(SHIPPED), "nobody": NOBODY}
    if "{url}" in line:
        places["url"] = server(ScriptedEngine(spoken("la " * 80, 8))).url
    if "{failing}" in line:
        places["failing"] = server(ScriptedEngine(spoken("la " * 80, 8), fail_at=5)).url
    result = run([word.format(**places) for word in words])
    assert result.exit_code == code, result.output
    if code == 0 and "--json" in words:
        assert isinstance(json.loads(result.stdout), dict)
    if code in (1, 3):
        assert result.stderr.strip().splitlines()[-1].startswith("firstword: ")
    assert "Traceback" not in result.output


def test_a_server_that_does_not_stream_is_code_1_of_the_doctor() -> None:
    with broken(catalogue.openai(catalogue.missing_done)) as url:
        result = run(["doctor", url, "--json"])
    assert result.exit_code == 1
    assert json.loads(result.stdout)["findings"]


def test_no_model_at_all_is_code_1_of_models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model_list, "_packaged", lambda: None)
    env = {"XDG_CACHE_HOME": str(tmp_path), "HF_HUB_CACHE": str(tmp_path)}
    result = CliRunner().invoke(app, ["models", "--json"], env=env)
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"default": None, "models": []}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_help_tells_its_exit_codes_and_json(name: str) -> None:
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    assert "Exit codes: 0 " in command.help
    # A server has no result; whoever starts it from a program asks /readyz.
    assert ("--json" in {opt for option in command.params for opt in option.opts}) == (name != "serve")


@pytest.mark.parametrize(
    ("typed", "offered"), [("firstword me", {"measure"}), ("firstword re", {"record", "replay"})]
)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_the_commands(shell: str, typed: str, offered: set[str]) -> None:
    names = {"bash": "COMP_WORDS", "zsh": "_TYPER_COMPLETE_ARGS", "fish": "_TYPER_COMPLETE_ARGS"}
    env = {
        **os.environ,
        "_FIRSTWORD_COMPLETE": f"complete_{shell}",
        names[shell]: typed,
        "COMP_CWORD": "1",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    start = [sys.executable, "-c", "import sys; sys.argv = ['firstword']; from app.cli import main; main()"]
    told = subprocess.run(start, env=env, capture_output=True, text=True, timeout=60).stdout
    assert {name for name in COMMANDS if re.search(rf"\b{name}\b", told)} == offered


# Private


def run(words: Sequence[str]) -> Result:
    return CliRunner().invoke(app, list(words))
