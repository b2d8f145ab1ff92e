"""Proxies: who stands between us and the server, by the headers that they leave. Pure.

It refuses to believe that nobody does when there are none: many are silent.
"""

from __future__ import annotations

from app.client.doctor.fixes import FIXES, PROXY_FIXES
from app.client.exchange import Head

#: (name, header, a piece of its value)
_SIGNS = (
    ("Cloudflare", "cf-ray", ""),
    ("Cloudflare", "server", "cloudflare"),
    ("nginx", "server", "nginx"),
    ("nginx", "server", "openresty"),
    ("nginx", "via", "nginx"),
    ("Apache", "server", "apache"),
    ("Apache", "via", "apache"),
    ("Caddy", "server", "caddy"),
    ("Caddy", "via", "caddy"),
    ("Varnish", "x-varnish", ""),
    ("Varnish", "via", "varnish"),
    ("a load balancer", "server", "awselb"),
    ("a load balancer", "x-amzn-trace-id", ""),
    ("a load balancer", "server", "envoy"),
    ("a load balancer", "via", "google"),
)


def recognised(head: Head | None) -> list[str]:
    """The names of those that show themselves."""
    found: dict[str, None] = {}
    for name, header, piece in _SIGNS if head is not None else ():
        value = head.get(header) if head is not None else None
        if value is not None and piece in value.lower():
            found[name] = None
    return list(found)


def seen_on_the_way(head: Head | None) -> str:
    """What the headers say of servers and proxies, for a finding's text."""
    if head is None:
        return ""
    shown = [f"{name}: {head.get(name)}" for name in ("server", "via") if head.get(name)]
    return f" Headers show {', '.join(shown)}." if shown else ""


def fix_on_the_way(code: str, head: Head | None) -> str:
    """The code's fix and how to set each proxy right: the recognised ones, or all when none is."""
    names = [name for name in recognised(head) if name in PROXY_FIXES] or list(PROXY_FIXES)
    return " ".join([FIXES[code], *(PROXY_FIXES[name] for name in names)])
