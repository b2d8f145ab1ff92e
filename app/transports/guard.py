"""Guard: who may talk to us at all, decided by Host, Origin and key before anything else runs.

A web page from anywhere can make its visitor's browser send requests to this machine. Two things
give it away: the Origin header, which it cannot forge, and, when it points its own host name at us
(DNS rebinding), the Host header. So both have to name us. A missing Origin is no browser's
cross-site request but a program: let in while no API key is set, else it needs the key.

Decisions are pure functions; the middleware only applies them, and wraps no response. It refuses
to know routes, but for which paths always need the key.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from app.errors import BadRequest, FirstwordError, Forbidden, Unauthorized
from app.settings import Settings
from app.transports.refusal import refuse

Headers = Sequence[tuple[bytes, bytes]]

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?\Z")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
#: Hosts to listen on that are all of this machine's addresses.
_WILDCARDS = frozenset({"", "0.0.0.0", "::"})
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Work for the engine that a plain GET can ask for.
_WORKING_GETS = ("/generate-stream", "/generate-full")


@dataclass(frozen=True, slots=True)
class Rules:
    """What is ours: host names (lower case, IPv6 in brackets), further origins, and the key."""

    hosts: frozenset[str]
    origins: frozenset[str] = frozenset()
    api_key: str = ""

    @staticmethod
    def of(settings: Settings) -> Rules:
        """Entries of ``allowed_hosts`` are host names, or whole origins like https://chat.example."""
        entries = [entry.strip().lower() for entry in settings.allowed_hosts.split(",") if entry.strip()]
        origins = frozenset(entry.rstrip("/") for entry in entries if "://" in entry)
        names = {entry for entry in entries if "://" not in entry}
        names |= {name for origin in origins if (name := host_name(origin.split("://", 1)[1]))}
        if settings.host not in _WILDCARDS:
            names.add(bracketed(settings.host.lower()))
        return Rules(_LOOPBACK | names, origins, settings.api_key)


def check(rules: Rules, scope: Scope) -> None:
    """Let a request pass or raise: BadRequest (host), Forbidden (origin), Unauthorized (key)."""
    headers: Headers = scope["headers"]
    host = check_host(rules, headers, local_address(scope))
    has_origin = check_origin(rules, headers, scope["scheme"], host)
    if scope["path"] in _WORKING_GETS:
        check_site(headers)
    if rules.api_key and needs_key(scope, has_origin):
        check_key(rules.api_key, headers)


def check_host(rules: Rules, headers: Headers, local: str | None) -> str:
    """The Host header, lower case. ``local`` is the address that this connection came in at.

    That one is ours whatever it is: a page elsewhere cannot have an address of ours as its name.
    """
    hosts = values(headers, b"host")
    host = hosts[0].lower() if len(hosts) == 1 else ""
    name = host_name(host)
    if name is None or name not in rules.hosts and name != local:
        shown = ascii(host[:80]) if len(hosts) == 1 else f"given {len(hosts)} times"
        raise BadRequest(
            f"Host is {shown}, which is no name of this server (FIRSTWORD_ALLOWED_HOSTS adds names)",
            param="Host",
        )
    return host


def check_origin(rules: Rules, headers: Headers, scheme: str, host: str) -> bool:
    """Whether there is an Origin; it has to be exactly our own scheme, host and port."""
    origins = values(headers, b"origin")
    if not origins:
        return False
    own = f"{'https' if scheme in ('https', 'wss') else 'http'}://{host}"
    if len(origins) > 1 or origins[0] != own and origins[0] not in rules.origins:
        raise Forbidden(f"requests from pages of {ascii(origins[0][:80])} are not taken", param="Origin")
    return True


def check_site(headers: Headers) -> None:
    """A page elsewhere may not start work by a picture's address: such a GET carries no Origin."""
    sites = values(headers, b"sec-fetch-site")
    if any(site not in ("same-origin", "none") for site in sites):
        raise Forbidden("requests from pages of other sites are not taken", param="Sec-Fetch-Site")


def needs_key(scope: Scope, has_origin: bool) -> bool:
    """Whether the API key, when there is one, has to be given."""
    if scope["path"].startswith("/v1/"):
        return True
    working = scope["type"] == "websocket" or scope["method"] not in _SAFE_METHODS
    return not has_origin and (working or scope["path"] in _WORKING_GETS)


def check_key(api_key: str, headers: Headers) -> None:
    """``Authorization: Bearer …`` or ``x-api-key``. Compared in constant time, length included."""
    keys = [value.partition(" ")[2].strip() for value in values(headers, b"authorization")]
    keys += values(headers, b"x-api-key")
    wanted = _digest(api_key)
    if not any(hmac.compare_digest(_digest(key), wanted) for key in keys):
        raise Unauthorized("an API key is needed: Authorization: Bearer …")


def host_name(host: str) -> str | None:
    """A Host header without its port; None when it is no host."""
    match = _HOST.match(host)
    return match[1] if match else None


def bracketed(address: str) -> str:
    """An address as a Host header writes it."""
    return f"[{address}]" if ":" in address and not address.startswith("[") else address


def reachable(host: str) -> str:
    """Where this machine itself finds a server that listens on ``host``."""
    return "127.0.0.1" if host in _WILDCARDS else host


def local_address(scope: Scope) -> str | None:
    """The address of ours that the client connected to."""
    server = scope.get("server")
    return bracketed(str(server[0]).lower()) if server else None


def values(headers: Headers, name: bytes) -> list[str]:
    """All values of a header, in order."""
    return [value.decode("latin-1").strip() for key, value in headers if key.lower() == name]


class Guard:
    """The middleware: refuses what ``check`` raises for, passes everything else on untouched."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            try:
                check(self._rules, scope)
            except FirstwordError as error:
                await refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)


# Private


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
