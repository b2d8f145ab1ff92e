from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.script import DEFAULT_SCRIPT, load_script, spoken
from app.errors import StartupError


def test_a_file_holds_texts_and_bytes_with_delays(tmp_path: Path):
    path = tmp_path / "script.json"
    path.write_text('[["Hé", 20], [{"hex": "e0a4"}, 0], [{"hex": "a8"}, 1.5], ["", 5]]')
    assert load_script(path) == [("Hé".encode(), 20.0), (b"\xe0\xa4", 0.0), (b"\xa8", 1.5), (b"", 5.0)]


@pytest.mark.parametrize(
    "content, why",
    [
        ("", "is not JSON"),
        ("[", "is not JSON"),
        ("{}", "must be a list"),
        ("[]", "not empty"),
        ('["word"]', r"entry 0: must be \[text, delay"),
        ('[["a", 1], ["b"]]', r"entry 1: must be \[text, delay"),
        ('[["a", "1"]]', "entry 0: the delay must be a number"),
        ('[["a", true]]', "entry 0: the delay must be a number"),
        ('[["a", -1]]', "the delay is -1; it must be from 0 to 60000 ms"),
        ('[["a", 60001]]', "the delay is 60001"),
        ("[[5, 1]]", "must begin with a text or"),
        ('[[{"hex": "xyz"}, 1]]', "'xyz' is not hexadecimal"),
        ('[[{"hex": "00", "more": 1}, 1]]', "must begin with a text or"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_the_entry(tmp_path: Path, content: str, why: str):
    path = tmp_path / "script.json"
    path.write_text(content)
    with pytest.raises(StartupError, match=why) as told:
        load_script(path)
    assert "\n" not in str(told.value) and str(path) in str(told.value)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(StartupError, match="none.json cannot be read: No such file"):
        load_script(tmp_path / "none.json")


@given(st.text())
def test_a_spoken_text_is_the_text(text: str):
    assert b"".join(data for data, _ in spoken(text, 1)).decode() == text


def test_the_default_script_shows_what_is_hard():
    text = b"".join(data for data, _ in DEFAULT_SCRIPT).decode()
    assert "🫖" in text and "शब्द" in text and "```python\n" in text and "\n\n" in text
    cut = [data for data, _ in DEFAULT_SCRIPT if data.decode(errors="replace").encode() != data]
    assert len(cut) > 5, "some tokens end inside a character"
    assert all(0 < delay_ms <= 300 for _, delay_ms in DEFAULT_SCRIPT)
    assert json.dumps(text)
