"""Target: a URL as people type it, as address, endpoint and dialect. Pure.

A URL is a base (a server, with or without ``/v1``) or an endpoint. Which dialect a base speaks has to
be found out by asking (detection). It refuses to ask.
"""

from __future__ import annotations

import string
from dataclasses import dataclass, replace
from urllib.parse import quote, urlsplit

from app.client.connection import Address
from app.client.dialects.dialect import Dialect
from app.client.dialects.known import DIALECTS, spoken_at

_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


class WrongUrl(ValueError):
    """Not a URL that can be asked; the message is one line for a person."""


class NoAnswer(ValueError):
    """Somebody is there, and broke off before anything that could be understood; one line."""


@dataclass(frozen=True, slots=True)
class Target:
    """``path`` is the endpoint's, query included; with no dialect yet it is the base's."""

    address: Address
    path: str
    dialect: Dialect | None

    @property
    def host(self) -> str:
        """The Host header's value."""
        host = f"[{self.address.host}]" if ":" in self.address.host else self.address.host
        default = 443 if self.address.tls else 80
        return host if self.address.port == default else f"{host}:{self.address.port}"

    @property
    def url(self) -> str:
        """For people."""
        return f"{'https' if self.address.tls else 'http'}://{self.host}{self.path}"

    def speaking(self, dialect: Dialect) -> Target:
        """The endpoint of ``dialect`` below this base."""
        return replace(self, path=self.path + dialect.path, dialect=dialect)


def read_target(url: str, dialect: str | None = None) -> Target:
    """The target of a URL; ``dialect`` overrules what its path says. Raises WrongUrl."""
    address, path, scheme = _parts(url)
    if dialect is not None and dialect not in DIALECTS:
        raise WrongUrl(f"no dialect {dialect!r}: it must be one of {', '.join(DIALECTS)}")
    wanted = DIALECTS[dialect] if dialect is not None else None
    if wanted is None and scheme in ("ws", "wss"):
        wanted = DIALECTS["websocket"]
    bare, mark, query = path.partition("?")
    bare, rest = bare.rstrip("/"), mark + query
    spoken = spoken_at(bare)
    if spoken is not None:
        chosen = wanted or spoken
        return Target(address, bare.removesuffix(spoken.path) + chosen.path + rest, chosen)
    base, is_base = bare.removesuffix("/v1"), not bare or bare.endswith("/v1")
    if wanted is not None:
        return Target(address, (base + wanted.path if is_base else bare) + rest, wanted)
    if query:
        # A base has no query: this is somebody's own endpoint, which can only be plain text.
        return Target(address, bare + rest, DIALECTS["plain"])
    return Target(address, base, None)


# Private


def _parts(url: str) -> tuple[Address, str, str]:
    try:
        split = urlsplit(url if "://" in url else f"http://{url}")
    except ValueError as error:
        raise WrongUrl(f"{url}: {error}") from None
    if split.scheme not in _PORTS:
        raise WrongUrl(f"{url}: must begin with http://, https://, ws:// or wss://")
    try:
        port = split.port or _PORTS[split.scheme]
    except ValueError as error:
        raise WrongUrl(f"{url}: {error}") from None
    if not split.hostname:
        raise WrongUrl(f"{url}: names no host")
    if split.username or split.password:
        raise WrongUrl("a name or password in a URL is seen by everyone: use --key-env instead")
    path = split.path + (f"?{split.query}" if split.query else "")
    # On the wire a path is ASCII without blanks; what is escaped already stays as it is.
    path = quote(path, safe=string.punctuation, errors="surrogateescape")
    return Address(split.hostname, port, split.scheme in ("https", "wss")), path, split.scheme
