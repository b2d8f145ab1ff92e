from typing import Any

import pytest

from app.errors import BadRequest, FirstwordError, Forbidden, Unauthorized
from app.settings import Settings
from app.transports.guard import Rules, check, reachable

RULES = Rules.of(Settings(allowed_hosts="lab.local, https://chat.example:8443"))
KEYED = Rules.of(Settings(api_key="sesame"))


def scope(
    kind: str = "http", *, method: str = "GET", path: str = "/", local: str = "192.168.1.5", **headers: Any
):
    raw = []
    for name, value in ({"host": "localhost:8000"} | headers).items():
        for one in value if isinstance(value, list) else [value]:
            raw.append((name.replace("_", "-").encode(), one.encode()))
    found = {"type": kind, "scheme": "http", "path": path, "headers": raw, "server": (local, 8000)}
    if kind == "websocket":
        return found | {"scheme": "ws"}
    return found | {"method": method}


def refusal(rules: Rules, asked: dict[str, Any]) -> type[FirstwordError] | None:
    try:
        check(rules, asked)
    except FirstwordError as error:
        return type(error)
    return None


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8000", "LOCALHOST:1", "127.0.0.1:8000", "[::1]", "[::1]:8000", "lab.local",
     "chat.example:8443", "192.168.1.5", "192.168.1.5:9000"],
)  # fmt: skip
def test_our_own_names_pass(kind, host):
    assert refusal(RULES, scope(kind, host=host)) is None


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "host",
    ["evil.com", "127.0.0.1.nip.io", "", "localhost@evil", "evil@localhost", "localhost.evil.com",
     "192.168.1.6", "localhost:", "localhost:x", "localhost:8000:1", "localhost/", "::1", "[::2]",
     "localhost.", "127.1", "0.0.0.0", "lab.local.evil", ["localhost", "localhost"],
     ["localhost", "evil.com"], []],
)  # fmt: skip
def test_all_other_names_are_refused(kind, host):
    assert refusal(RULES, scope(kind, host=host)) is BadRequest


def test_forwarded_headers_of_anybody_change_nothing():
    forged = {"x_forwarded_host": "localhost", "x_forwarded_for": "127.0.0.1", "forwarded": "host=localhost"}
    assert refusal(RULES, scope(host="evil.com", **forged)) is BadRequest


@pytest.mark.parametrize("asked", [scope("websocket"), scope(method="POST"), scope()])
def test_a_missing_origin_passes_while_there_is_no_key(asked):
    assert refusal(RULES, asked) is None


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("origin", ["http://localhost:8000", "https://chat.example:8443"])
def test_our_own_origins_pass(kind, origin):
    assert refusal(RULES, scope(kind, method="POST", origin=origin)) is None


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    "origin",
    ["http://evil.com", "null", "", "https://localhost:8000", "http://localhost", "http://localhost:8001",
     "http://localhost:8000.evil.com", "http://127.0.0.1:8000", "HTTP://LOCALHOST:8000", "localhost:8000",
     "http://localhost:8000/", "http://lab.local", ["http://localhost:8000", "http://evil.com"],
     ["http://localhost:8000", "http://localhost:8000"]],
)  # fmt: skip
def test_all_other_origins_are_refused(kind, origin):
    assert refusal(RULES, scope(kind, method="POST", origin=origin)) is Forbidden


def test_an_origin_is_compared_with_the_host_that_was_asked():
    assert (
        refusal(RULES, scope("websocket", host="192.168.1.5:8000", origin="http://192.168.1.5:8000")) is None
    )
    assert (
        refusal(RULES, scope("websocket", host="192.168.1.5:8000", origin="http://localhost:8000"))
        is Forbidden
    )


OWN = {"origin": "http://localhost:8000"}


@pytest.mark.parametrize(
    ("asked", "needed"),
    [
        (scope(), False),
        (scope(path="/static/x.js"), False),
        (scope(path="/readyz"), False),
        (scope("websocket", path="/ws"), True),
        (scope("websocket", path="/ws", **OWN), False),
        (scope(method="POST", path="/api/replies"), True),
        (scope(method="POST", path="/api/replies", **OWN), False),
        (scope(method="DELETE", path="/api/replies/x"), True),
        (scope(path="/generate-stream"), True),
        (scope(path="/generate-full"), True),
        (scope(path="/v1/models"), True),
        (scope(method="POST", path="/v1/messages", **OWN), True),
    ],
)
def test_a_key_is_needed_by_programs_and_always_on_v1(asked, needed):
    assert refusal(KEYED, asked) is (Unauthorized if needed else None)


@pytest.mark.parametrize(
    ("headers", "lets_in"),
    [
        ({"authorization": "Bearer sesame"}, True),
        ({"authorization": "bearer  sesame "}, True),
        ({"x_api_key": "sesame"}, True),
        ({"authorization": "Bearer wrong", "x_api_key": "sesame"}, True),
        ({"authorization": "Bearer sesam"}, False),
        ({"authorization": "Bearer sesame2"}, False),
        ({"authorization": "sesame"}, False),
        ({"authorization": "Bearer "}, False),
        ({"x_api_key": ""}, False),
    ],
)
def test_the_key_is_compared_whole(headers, lets_in):
    asked = scope(method="POST", path="/v1/chat/completions", **headers)
    assert refusal(KEYED, asked) is (None if lets_in else Unauthorized)


def test_a_bound_address_is_a_name_of_ours_but_a_wildcard_is_not():
    assert "10.0.0.7" in Rules.of(Settings(host="10.0.0.7")).hosts
    assert "[fe80::1]" in Rules.of(Settings(host="fe80::1")).hosts
    assert "0.0.0.0" not in Rules.of(Settings(host="0.0.0.0")).hosts


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::"])
def test_a_server_on_all_addresses_is_reached_on_this_machines_own(host):
    assert reachable(host) == "127.0.0.1"
    assert (reachable("10.0.0.7"), reachable("fe80::1")) == ("10.0.0.7", "fe80::1")


@pytest.mark.parametrize(("site", "passes"), [("none", True), ("same-origin", True), ("cross-site", False)])
def test_another_sites_picture_cannot_start_a_generation(site, passes):
    with_site = scope("http", path="/generate-full")
    with_site["headers"].append((b"sec-fetch-site", site.encode()))
    assert (refusal(RULES, with_site) is None) == passes
