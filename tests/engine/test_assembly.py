from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from app.engine import assembly
from app.engine.process import Parts
from app.generation import ModelInfo
from app.settings import Settings
from tests.engine.tiny import TinyRunner, TinyTokenizer


class SizedTinyRunner(TinyRunner):
    """A tiny runner that says where its memory is; a token takes 1000 bytes."""

    def __init__(self, device: str, *, takes_kv_at_once: bool) -> None:
        super().__init__(num_slots=8, context_tokens=4096)
        self.info = ModelInfo("tiny", 4096, device)
        self.takes_kv_at_once = takes_kv_at_once

    def kv_bytes_per_token(self) -> int:
        return 1000


def assembled(monkeypatch: pytest.MonkeyPatch, runner: SizedTinyRunner, free: int, **settings: Any) -> Parts:
    monkeypatch.setattr(assembly, "load", lambda settings, progress: (runner, TinyTokenizer()))
    monkeypatch.setattr(assembly, "free_bytes", lambda device: {"cuda": free}[device.type])
    silent: Any = lambda *told: None  # noqa: E731
    return assembly.assemble(Settings(max_batch=4, **settings), silent, silent, silent)


def test_a_runner_that_takes_memory_as_it_goes_gets_no_more_than_its_device_has(monkeypatch):
    runner = SizedTinyRunner("cuda:0", takes_kv_at_once=False)
    parts = assembled(monkeypatch, runner, free=100 * 16_000)
    # The door is told of the memory where that is less than the context.
    assert parts.context_tokens == 50 * 16


def test_a_runner_that_has_taken_its_memory_may_use_all_of_it(monkeypatch):
    runner = SizedTinyRunner("cuda:0", takes_kv_at_once=True)
    assert assembled(monkeypatch, runner, free=0).context_tokens == 4096
    assert assembled(monkeypatch, runner, free=0, kv_blocks=3).context_tokens == 48


def test_the_web_process_does_not_import_torch():
    program = "import sys, app.engine.supervisor, app.engine.scripted; print('torch' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.stdout == "False\n", told.stderr
