"""URLs as people type them."""

import pytest

from app.client.target import WrongUrl, read_target


@pytest.mark.parametrize(
    ("url", "dialect", "host", "path", "spoken"),
    [
        ("http://h", None, "h", "", None),
        ("h:8000", None, "h:8000", "", None),
        ("http://h/v1", None, "h", "", None),
        ("http://h/v1/", "openai", "h", "/v1/chat/completions", "openai"),
        ("https://h/prefix/v1", None, "h", "/prefix", None),
        ("https://h/prefix/v1", "anthropic", "h", "/prefix/v1/messages", "anthropic"),
        ("https://h/v1/chat/completions", None, "h", "/v1/chat/completions", "openai"),
        ("https://h/v1/completions", None, "h", "/v1/completions", "openai-text"),
        ("https://h/v1/messages", None, "h", "/v1/messages", "anthropic"),
        ("http://h/api/replies", None, "h", "/api/replies", "ndjson"),
        ("http://h/api/replies", "sse", "h", "/api/replies", "sse"),
        ("http://h/api/replies", "websocket", "h", "/ws", "websocket"),
        ("ws://h:1/ws", None, "h:1", "/ws", "websocket"),
        ("wss://h", None, "h", "/ws", "websocket"),
        ("http://h/generate-stream?a=b", None, "h", "/generate-stream?a=b", "plain"),
        ("http://h/say?voice=1", None, "h", "/say?voice=1", "plain"),
        ("http://h/say", "plain", "h", "/say", "plain"),
        ("http://[::1]:80/v1", None, "[::1]", "", None),
        ("http://h/ज़ a%20b?q=é", None, "h", "/%E0%A4%9C%E0%A4%BC%20a%20b?q=%C3%A9", "plain"),
    ],
)
def test_a_url_is_a_base_or_an_endpoint(
    url: str, dialect: str | None, host: str, path: str, spoken: str | None
) -> None:
    target = read_target(url, dialect)
    assert (target.host, target.path) == (host, path)
    assert (target.dialect.name if target.dialect else None) == spoken


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://h", "must begin with"),
        ("http://", "names no host"),
        ("http://h:99999", "Port out of range"),
        ("http://[::1", "Invalid IPv6 URL"),
        ("http://name:word@h", "--key-env"),
    ],
)
def test_what_is_no_url_is_refused_with_one_line(url: str, said: str) -> None:
    with pytest.raises(WrongUrl, match=said):
        read_target(url)


def test_an_unknown_dialect_is_refused_with_the_known_ones() -> None:
    with pytest.raises(WrongUrl, match="ndjson, sse, websocket"):
        read_target("http://h", "morse")


def test_tls_is_taken_from_the_scheme() -> None:
    assert read_target("https://h").address.port == 443
    assert read_target("wss://h/ws").address.tls
    assert not read_target("ws://h/ws").address.tls
