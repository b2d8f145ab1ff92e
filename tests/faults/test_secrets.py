"""F30: a folder that wants to run code is refused unread, and a key shows up nowhere."""

from __future__ import annotations

import ast
import json
import pickle
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from websockets.exceptions import InvalidStatus

from app.engine import weights
from app.engine.model import load
from app.errors import StartupError
from app.settings import Settings
from tests.socket.clients import HELLO, talk
from tests.socket.test_drain import start_process, url_of

KEY = "sesame-9f86d081884c7d65"


class _Bomb:
    """Unpickled, it leaves a sentinel."""

    def __init__(self, sentinel: Path) -> None:
        self.sentinel = sentinel

    def __reduce__(self) -> Any:
        return Path.touch, (self.sentinel,)


@dataclass(frozen=True)
class _Wishes:
    model: str
    cache_dir: Path


def hostile_folder(folder: Path, sentinel: Path) -> None:
    """A model folder with code to run: a pickle, and modules that its config points at."""
    folder.mkdir()
    code = {"AutoConfig": "evil.EvilConfig", "AutoModelForCausalLM": "evil.EvilModel"}
    (folder / "config.json").write_text(json.dumps({"model_type": "evil", "auto_map": code}))
    (folder / "evil.py").write_text(f"open({str(sentinel)!r}, 'w')")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(_Bomb(sentinel)))


def test_no_line_of_a_log_is_told_an_id_which_is_a_key_to_its_reply() -> None:
    app = Path(__file__).parents[2] / "app"
    for path in app.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text())):
            if not isinstance(call, ast.Call) or not ast.unparse(call.func).startswith(("log.", "logger.")):
                continue
            told = [ast.unparse(part) for argument in call.args for part in ast.walk(argument)]
            assert not [name for name in told if name == "id" or name.endswith((".id", "_id"))], path


def test_the_bomb_would_go_off(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(_Bomb(tmp_path / "sentinel")))
    assert (tmp_path / "sentinel").exists()


def test_pickled_weights_are_refused_unread(tmp_path: Path) -> None:
    hostile_folder(tmp_path / "model", tmp_path / "sentinel")
    with pytest.raises(StartupError, match="only pickle weights, which can run code and are never loaded"):
        weights.find(_Wishes(str(tmp_path / "model"), tmp_path / "cache"), lambda what, part: None)
    assert not (tmp_path / "sentinel").exists()


def test_code_beside_sound_weights_is_not_run_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    hostile_folder(tmp_path / "model", tmp_path / "sentinel")
    save_file({"x": torch.zeros(1)}, tmp_path / "model" / "model.safetensors")
    letters = Tokenizer(models.BPE({letter: place for place, letter in enumerate("abc")}, []))
    letters.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters.decoder = decoders.ByteLevel()
    letters.save(str(tmp_path / "model" / "tokenizer.json"))
    with pytest.raises(StartupError, match="model model is not supported") as refused:
        load(Settings(model=str(tmp_path / "model"), device="cpu"), lambda what, part: None)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "sentinel").exists()


async def test_a_key_appears_in_no_log_page_header_or_export() -> None:
    process = await start_process("--port", "0", FIRSTWORD_API_KEY=KEY, FIRSTWORD_LOG="json")
    try:
        url = await url_of(process)
        seen = await everything(url)
        process.send_signal(signal.SIGTERM)
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert b"reply" in output + errors, "the journal has written its lines"
    assert KEY not in seen and KEY.encode() not in output + errors


_PATHS = ("/", "/compare", "/teach", "/join", "/lab", "/metrics", "/readyz", "/v1/models", "/none")


async def everything(url: str) -> str:
    """Ask for all there is, with the key, with a wrong one and with none; all that came back."""
    seen: list[str] = []
    keyed = {"authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(base_url=url) as http:
        for headers in (keyed, {"authorization": f"Bearer {KEY}x"}, {}):
            for path in _PATHS:
                answer = await http.get(path, headers=headers)
                seen += [answer.text, str(answer.headers), str(answer.url)]
            body = {"model": "default", "messages": HELLO, "max_tokens": 3}
            for wrong in ({}, {"max_tokens": -1}):
                answer = await http.post("/v1/chat/completions", json=body | wrong, headers=headers)
                seen += [answer.text, str(answer.headers)]
        room = await http.post("/api/rooms", json={"title": "x"}, headers=keyed)
        seen += [room.text, str(room.headers)]
        for form in ("csv", "json"):
            seen.append((await http.get(f"/api/rooms/{room.json().get('code')}/export.{form}")).text)
    ws = url.replace("http", "ws", 1) + "/ws"
    async with talk(ws, additional_headers=keyed) as socket:
        await socket.start(max_tokens=3)
        seen.append(str(await socket.hear_until("done")))
        await socket.say("start", id="x", messages=HELLO, max_tokens=-1)
        seen.append(str(await socket.hear_until("error")))
    with pytest.raises(InvalidStatus) as refused:
        async with talk(ws, additional_headers={"authorization": f"Bearer {KEY}y"}):
            pass
    return "\n".join([*seen, str(refused.value.response)])
