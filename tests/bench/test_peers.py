"""Which peers take part, and that one is started, waited for and ended."""

import sys

import psutil  # type: ignore[import-untyped]
import pytest

from bench.peers import Absent, Peer, peers
from bench.servers import NoServer, running


def python(code: str) -> Peer:
    return Peer("a server", "ignore_eos", "m", "/", lambda port: [sys.executable, "-c", code, str(port)])


SERVES = """
import http.server, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
handler = http.server.SimpleHTTPRequestHandler
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), handler).serve_forever()
"""


async def test_a_server_is_ready_has_memory_and_ends_with_its_children(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with running(python(SERVES)) as server:
        family = psutil.Process(server.pid).children(recursive=True)
        assert len(family) == 1 and server.resident_mb() > 5
    psutil.wait_procs(family, timeout=10)
    assert not psutil.pid_exists(server.pid) and not any(child.is_running() for child in family)


async def test_a_server_that_does_not_start_is_told_with_its_last_words():
    with pytest.raises(NoServer, match=r"code 3 .*no such weights"):
        async with running(python("print('no such weights'); raise SystemExit(3)")):
            raise AssertionError("it cannot be running")


def test_an_absent_peer_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("LLAMA_SERVER", str(tmp_path / "none"))
    monkeypatch.setenv("TRANSFORMERS_CLI", str(tmp_path / "none"))
    monkeypatch.setenv("VLLM_SERVER", str(tmp_path / "none"))
    found = peers(tmp_path, "scripted")
    assert [peer.name for peer in found if isinstance(peer, Peer)] == ["firstword (scripted)"]
    reasons = {peer.name: peer.reason for peer in found if isinstance(peer, Absent)}
    assert "LLAMA_SERVER" in reasons["llama.cpp"] and "VLLM_SERVER" in reasons["vLLM on CPU"]
    assert len(reasons) == 4


def test_only_the_peers_asked_for_are_looked_for(tmp_path):
    assert [peer.name for peer in peers(tmp_path, "local", ["first"])] == ["firstword"]
