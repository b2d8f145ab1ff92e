"""Good and bad recordings, each once, for us and for the page (tests/js/recording_rules.test.js) alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.errors import BadRequest
from app.replay.recording import read_recording, recording_bytes

GOLDEN = json.loads(Path(__file__).with_name("golden_recordings.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_the_rules_that_the_page_has_too_are_kept(case: dict[str, Any]) -> None:
    data = file_of(case)
    if case["good"]:
        recording = read_recording(data)
        assert read_recording(recording_bytes(recording)) == recording
        return
    with pytest.raises(BadRequest) as refused:
        read_recording(data)
    message = refused.value.message
    assert case["field"] in message and "\n" not in message and len(message) < 300, message


@pytest.mark.parametrize("case", GOLDEN["raw"], ids=lambda case: case["name"])
def test_what_is_no_recording_is_refused(case: dict[str, str]) -> None:
    with pytest.raises(BadRequest):
        read_recording(case["text"].encode())


# Private


def file_of(case: dict[str, Any]) -> bytes:
    """The golden recording with this case's changes: places are named like ``reply.events.2.t``."""
    content = json.loads(json.dumps(GOLDEN["base"]))
    for path, value in case.get("set", {}).items():
        place, last = _place(content, path)
        place[last] = value
    for path in case.get("remove", []):
        place, last = _place(content, path)
        del place[last]
    text = json.dumps(content)
    for path, depth in case.get("nest", {}).items():
        text = text[:-1] + f', "{path}": ' + "[" * depth + "]" * depth + "}"
    prefix: str = case.get("prefix", "")
    return (prefix + text).encode()


def _place(content: Any, path: str) -> tuple[Any, Any]:
    *way, last = [int(name) if name.isdigit() else name for name in path.split(".")]
    for name in way:
        content = content[name]
    return content, last
