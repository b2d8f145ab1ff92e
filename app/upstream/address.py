"""Where the upstream is, with which key it is spoken to, and how long it is waited for.

Makes the one HTTP client that all others use, and puts a failed connection into words. The key
never leaves this module but in the Authorization header. It refuses to know what is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from app.errors import StartupError
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the upstream is waited for; seconds. Tests are in a hurry, people are not."""

    connect_s: float = 5.0
    #: No byte for so long, while an answer is read: a long prefill is silent, a dead server too.
    silence_s: float = 120.0
    #: For a refusal, before the prompt is said to wait in line.
    refusal_s: float = 1.0
    #: Before the one second try.
    back_off_s: float = 0.5
    #: For the usage frame and the end of the stream, once a finish reason was read.
    tail_s: float = 2.0
    #: A small question: which models, how many tokens.
    question_s: float = 5.0
    #: How often it is asked whether it is there: while it is not, while it is.
    absent_s: float = 2.0
    present_s: float = 15.0


@dataclass(frozen=True, slots=True)
class Address:
    """``root`` has neither path ``/v1`` nor a slash at its end; ``shown`` is fit for messages."""

    root: str = field(repr=False)  # may hold a name and password
    shown: str
    key: str = field(default="", repr=False)

    @property
    def api(self) -> str:
        return f"{self.root}/v1"

    def client(self, patience: Patience, connections: int) -> httpx.AsyncClient:
        """The client for everything sent to this upstream, at most ``connections`` at a time."""
        headers = {"Accept-Encoding": "identity"}  # a compressor holds text back
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        return httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(patience.silence_s, connect=patience.connect_s),
            # Idle connections go before uvicorn's 5 s would close them under a request.
            limits=httpx.Limits(max_connections=connections, keepalive_expiry=3.0),
            # No proxy from the environment: one that buffers would falsify what is measured here.
            trust_env=False,
        )

    def scrub(self, text: str) -> str:
        """``text`` without the key: some servers repeat a wrong one in their message."""
        return text.replace(self.key, "[key]") if self.key else text

    def explain(self, error: httpx.RequestError, patience: Patience) -> str:
        """A failed exchange in one clause for a person, without a stack trace's words."""
        match error:
            case httpx.ConnectTimeout():
                return f"{self.shown} took no connection within {patience.connect_s:g} s"
            case httpx.ConnectError():
                return f"{self.shown} cannot be reached: {str(error) or 'connection failed'}"
            case httpx.TimeoutException():
                return f"{self.shown} sent nothing for {patience.silence_s:g} s"
            case httpx.NetworkError() | httpx.RemoteProtocolError():
                return f"{self.shown} broke the connection off ({str(error) or type(error).__name__})"
        return f"{self.shown} cannot be read: {error}"


def address_of(settings: Settings, environ: Mapping[str, str]) -> Address:
    """The settings' upstream. Raises StartupError naming the setting that is wrong."""
    try:
        url = httpx.URL(settings.upstream)
    except httpx.InvalidURL as error:
        raise StartupError(f"FIRSTWORD_UPSTREAM={settings.upstream!r} is no URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host or url.query:
        raise StartupError(
            f"FIRSTWORD_UPSTREAM={settings.upstream!r} must be a base URL such as http://localhost:8000/v1"
        )
    name = settings.upstream_key_env
    if name and not environ.get(name):
        raise StartupError(f"FIRSTWORD_UPSTREAM_KEY_ENV names {name}, which is not set")
    root = str(url).rstrip("/").removesuffix("/v1").rstrip("/")
    # A name and password in the URL are sent, but never shown.
    shown = str(httpx.URL(root).copy_with(username=None, password=None)).rstrip("/")
    return Address(root, shown, environ[name] if name else "")
