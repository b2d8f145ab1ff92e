"""The recordings that ship: they load, they are what their hash says, and a class may see them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.errors import BadRequest, NotFound
from app.replay.library import Library, card_of, shipped
from app.replay.recording import Recording, recording_bytes, sha256_of
from tests.replay.samples import sample

SHIPPED = [shipped().recording(card.id) for card in shipped().cards()]


def test_three_recordings_ship_a_short_one_a_long_one_and_one_with_marks() -> None:
    tokens = {recording.id: card_of(recording).tokens for recording in SHIPPED}
    assert len(tokens) == 3
    assert min(tokens.values()) <= 100 and max(tokens.values()) >= 150
    assert any("```" in r.reply.text or re.search(r"^(\d+\.|[-*]) ", r.reply.text, re.M) for r in SHIPPED)


@pytest.mark.parametrize("recording", SHIPPED, ids=lambda recording: recording.id)
def test_a_shipped_recording_is_whole_and_presentable(recording: Recording) -> None:
    reply = recording.reply
    assert sha256_of(reply.text) == reply.sha256
    assert reply.done.finish_reason in ("stop", "length")
    assert reply.done.usage.completion_tokens == sum(delta.tokens for delta in reply.deltas) >= 20
    letters = [char for char in reply.text if char.isalpha()]
    assert len(letters) > 60 and all(char.isascii() for char in letters), "English"
    assert reply.text == reply.text.strip() and "\ufffd" not in reply.text
    sentences = [s.strip() for s in re.split(r"[.\n]", reply.text) if len(s.split()) > 3]
    assert len(set(sentences)) >= 0.8 * len(sentences), "it does not go round in circles"


@pytest.mark.parametrize("recording", SHIPPED, ids=lambda recording: recording.id)
def test_a_shipped_recording_says_what_made_it_and_nothing_of_whose_machine(recording: Recording) -> None:
    assert recording.model.name.startswith("SmolLM2-135M") and recording.model.device == "cpu"
    assert recording.hardware.cpu and recording.hardware.cores > 0
    assert recording.prompt.settings["seed"] is not None and "temperature" in recording.prompt.settings
    assert re.fullmatch(r"firstword \d+\.\d+\.\d+\S*", recording.made_by)
    assert "/" not in recording.hardware.system + recording.model.name


def test_shipped_recordings_are_short_enough_for_a_lesson() -> None:
    for recording in SHIPPED:
        assert recording.reply.done.t < 30_000
        assert recording.reply.deltas[0].t < recording.reply.done.t / 3, "streaming has to show"


def test_a_folder_is_read_by_id_and_names_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_bytes(recording_bytes(sample(id="second")))
    (tmp_path / "a.json").write_bytes(recording_bytes(sample(id="first")))
    library = Library(tmp_path)
    assert [card.id for card in library.cards()] == ["first", "second"]
    assert library.player("first") is library.player("first")
    assert library.recording("second") == sample(id="second")
    with pytest.raises(NotFound, match="there are: first, second"):
        library.player("third")
    with pytest.raises(NotFound, match="there are: none"):
        Library(tmp_path / "nowhere").player("x")
    (tmp_path / "c.json").write_bytes(b"{}")
    with pytest.raises(BadRequest):
        Library(tmp_path)
