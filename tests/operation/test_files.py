"""The files that operators copy name what is really there."""

import json
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from tests.server import Running

FOLDER = Path(__file__).parents[2] / "docs" / "operation"
SETTING = re.compile(r"\bFIRSTWORD_([A-Z_]+)\b")


async def test_the_dashboard_asks_for_metrics_that_the_server_has(serve):
    server: Running = await serve()
    async with httpx.AsyncClient() as client:
        text = (await client.get(f"{server.url}/metrics")).text
    found = set(re.findall(r"^# TYPE (\w+) ", text, re.M))
    known = found | {f"{name}_bucket" for name in found}
    dashboard = json.loads((FOLDER / "grafana.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked = set(re.findall(r"firstword_\w+", " ".join(expressions)))
    assert len(asked) >= 9
    assert asked <= known


@pytest.mark.parametrize(
    "path", [*sorted(FOLDER.iterdir()), FOLDER.parents[1] / "Dockerfile"], ids=lambda p: p.name
)
def test_settings_that_they_name_exist(path: Path):
    names = {name.lower() for name in SETTING.findall(path.read_text())}
    assert names <= set(Settings.__dataclass_fields__)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_takes_its_snippet(tmp_path: Path):
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"pid {tmp_path}/pid; events {{}} http {{ access_log off; include {FOLDER / 'nginx.conf'}; }}"
    )
    done = subprocess.run(
        ["nginx", "-t", "-c", config, "-e", tmp_path / "log"], capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_its_unit(tmp_path: Path):
    unit = tmp_path / "firstword.service"
    text = (FOLDER / "firstword.service").read_text()
    # It checks that the program exists; ours does not live in /opt here.
    unit.write_text(text.replace("/opt/firstword/.venv/bin/firstword", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=60)
    assert "firstword.service" not in done.stderr, done.stderr


def test_the_limit_of_descriptors_is_raised_as_far_as_the_system_lets_us():
    code = (
        "import resource as r; from app.server import raise_descriptor_limit as f\n"
        "r.setrlimit(r.RLIMIT_NOFILE, (256, r.getrlimit(r.RLIMIT_NOFILE)[1]))\n"
        "print(f(4096), r.getrlimit(r.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    expected = min(4096, hard) if hard != resource.RLIM_INFINITY else 4096
    assert done.stdout.split() == [str(expected)] * 2, done.stderr
