"""The headers that keep a page to its own server: Content-Security-Policy, Trusted Types and friends.

A model's answer is untrusted text. These headers are the second wall behind the page's own rule of
building the DOM by allow-list: no script and no image from elsewhere, no markup made from strings.
Pure; it refuses to know which page is served.
"""

from __future__ import annotations

import re

_HOST = re.compile(r"(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")


def page_headers(host: str) -> dict[str, str]:
    """Headers of an HTML page that was asked for under ``host`` (the Host header).

    Older browsers do not count WebSockets as ``'self'``, so the page's own host is named; a Host
    that is no host name is left out rather than written into a header.
    """
    sockets = f" ws://{host} wss://{host}" if _HOST.fullmatch(host) else ""
    directives = (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        f"connect-src 'self'{sockets}",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
    return {
        "content-security-policy": "; ".join(directives),
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
        "cache-control": "no-cache",
    }
