"""What is told about this server, and what is not."""

from __future__ import annotations

import getpass
import socket

import httpx
import pytest

from app.engine.scripted import ScriptedEngine
from app.generation import ModelInfo
from app.telemetry.about import hardware, version
from tests.server import run_server


async def test_about_names_the_version_the_model_and_the_machine() -> None:
    async with run_server() as s, httpx.AsyncClient(base_url=s.url) as client:
        answer = await client.get("/api/about")
    told = answer.json()
    assert told["version"] == version() and told["model"]["name"] == "scripted"
    assert told["hardware"]["cpu"] and told["hardware"]["cores"] >= 1
    assert told["hardware"]["memory_gb"] > 0 and told["hardware"]["system"]
    assert answer.headers["cache-control"] == "no-store"


def test_nothing_is_told_by_which_the_machine_could_be_found() -> None:
    told = " ".join(map(str, (hardware().cpu, hardware().system)))
    assert socket.gethostname() not in told
    assert getpass.getuser() not in told.split()


@pytest.mark.parametrize("path", ["/home/somebody/models/tiny", "./models/tiny", "~/tiny"])
async def test_a_model_in_a_folder_is_named_without_its_path(path: str) -> None:
    engine = ScriptedEngine()
    engine._model = ModelInfo(path)
    async with run_server(engine) as s, httpx.AsyncClient(base_url=s.url) as client:
        assert (await client.get("/api/about")).json()["model"]["name"] == "tiny"
