"""`firstword serve --lan`: what it binds, what it prints, and that it says what it exposes."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from app.cli import app
from app.commands.lan import lan_text
from app.rooms.addresses import mdns_name
from app.settings import Settings


def test_all_addresses_are_printed_with_the_page_for_phones_and_what_it_exposes():
    text = lan_text(["192.168.1.7", "10.0.0.2"], "desk.local", 8000, blocks=False)
    for part in ("http://192.168.1.7:8000/join", "http://10.0.0.2:8000/join", "http://desk.local:8000/join"):
        assert part in text
    assert "everybody on this network" in text and "plain http" in text and "FIRSTWORD_API_KEY" in text
    assert "http://127.0.0.1:8000/teach" in text and "\x1b" not in text


def test_a_terminal_gets_a_qr_code_that_is_dark_on_light_on_every_background():
    lines = lan_text(["192.168.1.7"], None, 8000, blocks=True).splitlines()
    picture = [line for line in lines if line.startswith("\x1b[97;40m")]
    assert len(picture) >= 14 and all(line.endswith("\x1b[0m") for line in picture)
    # The quiet zone: rows of nothing but light.
    assert set(picture[0].removeprefix("\x1b[97;40m").removesuffix("\x1b[0m")) == {"█"}


def test_a_machine_without_a_network_is_told_so():
    assert "no address" in lan_text([], None, 8000, blocks=True)


@pytest.mark.parametrize(
    ("options", "host"), [(["--lan"], "0.0.0.0"), (["--lan", "--host", "::"], "::"), ([], "127.0.0.1")]
)
def test_lan_binds_wide_and_nothing_else_does(options, host, monkeypatch):
    seen: list[Settings] = []
    monkeypatch.setattr("app.server.run", lambda settings, **rest: seen.append(settings))
    assert CliRunner().invoke(app, ["serve", *options]).exit_code == 0
    assert seen[0].host == host
    assert seen[0].allowed_hosts == ((mdns_name() or "") if options else "")
