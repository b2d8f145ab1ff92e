"""Every knob of the server: its unit, its default and why.

Read once from ``FIRSTWORD_*`` into one frozen object and handed down; nothing else reads those
variables. (Elsewhere are read: keys, from variables that a setting or an option names, and where
other programs keep their caches.) A field ``stall_s`` is set by ``FIRSTWORD_STALL_S``. The README
lists them all (a test compares). This module refuses to act on any of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from app.errors import StartupError


def knob(default: Any, reason: str, low: float | None = None, high: float | None = None) -> Any:
    """A setting with its reason and, for numbers, the limits it must keep."""
    return field(default=default, metadata={"reason": reason, "low": low, "high": high})


@dataclass(frozen=True, slots=True)
class Settings:
    # Where we listen
    host: str = knob("127.0.0.1", "loopback: nobody else can reach it unless asked for (--lan)")
    port: int = knob(8000, "the usual one for a Python web server", 0, 65535)
    grpc_port: int = knob(0, "gRPC on this port too (needs the extra grpc); 0: no gRPC", 0, 65535)
    log: str = knob("quiet", "quiet: problems only; json: a line for each reply too, without its text")
    allowed_hosts: str = knob("", "further host names, comma-separated, that Host and Origin may carry")
    api_key: str = knob("", "when set, /v1 and non-browser clients need it as a bearer token")

    # What generates
    engine: str = knob("local", "local, scripted or upstream")
    model: str = knob("", "Hugging Face id, folder or GGUF file; empty: the packaged SmolLM2-135M")
    device: str = knob("auto", "auto: CUDA when there, else MPS, else CPU")
    dtype: str = knob(
        "auto", "float32, bfloat16, float16, or auto: the fastest on the device whose quality is checked"
    )
    script: str = knob("", "the scripted engine's file: a JSON list of [text or {hex}, delay in ms]")
    upstream: str = knob("", "base URL of an OpenAI-compatible server, with or without /v1")
    upstream_model: str = knob("", "its model's name; empty: the first it lists")
    upstream_key_env: str = knob("", "name of the environment variable that holds its key")
    upstream_silence_s: float = knob(
        120.0, "no byte of an answer for so long: a long prefill is silent, so is a dead server", 0.1, 3600
    )
    threads: int = knob(0, "torch threads of the engine; 0: all cores", 0, 1024)

    # The engine's batch and memory
    max_batch: int = knob(16, "sequences decoded together; more rows make each step longer", 1, 512)
    prefill_chunk_tokens: int = knob(
        128,
        "prompt tokens computed in one step: bounds the gap a newcomer makes",
        8,
        65536,
    )
    prefill_gap_ratio: float = knob(
        1.8,
        "how much longer than a plain step a step may be that computes a newcomer's prompt; "
        "while several wait, up to 60 ms",
        1.1,
        100,
    )
    paused_kv_percent: int = knob(
        50, "share of the KV memory that sleepers may keep; past it the longest paused is recomputed", 0, 100
    )
    kv_blocks: int = knob(0, "KV memory in blocks of 16 tokens; 0: sized by the engine", 0, 10_000_000)
    context_tokens: int = knob(0, "context limit; 0: the model's own", 0, 10_000_000)

    # What a prompt may ask for
    max_messages: int = knob(64, "turns in one request", 1, 10_000)
    max_prompt_chars: int = knob(200_000, "refused before tokenising, which costs time", 1, 100_000_000)
    max_output_tokens: int = knob(1024, "tokens of one reply", 1, 1_000_000)
    default_output_tokens: int = knob(512, "tokens of a reply whose request names no limit", 1, 1_000_000)
    default_temperature: float = knob(0.2, "what the default model's authors recommend", 0.0, 2.0)
    default_top_p: float = knob(0.9, "what the default model's authors recommend", 0.0, 1.0)
    max_stop_strings: int = knob(8, "stop strings of one request", 0, 100)
    max_stop_chars: int = knob(200, "length of one stop string: it bounds the text held back", 1, 10_000)
    max_body_bytes: int = knob(1_048_576, "an HTTP request's body", 1024, 1_000_000_000)
    max_choices: int = knob(8, "answers to one OpenAI request (n); each is a sequence of its own", 1, 128)

    # The line at the door
    max_waiting: int = knob(32, "requests in line before 503: beyond, people have left", 1, 100_000)

    # Readers
    high_tokens: int = knob(64, "unread tokens at which a sequence leaves the batch", 1, 100_000)
    low_tokens: int = knob(16, "unread tokens at which it returns", 0, 100_000)
    stall_s: float = knob(10.0, "a paused reply whose reader does not move is aborted after this", 0.1, 3600)
    send_s: float = knob(10.0, "a frame the socket does not take for so long aborts it", 0.1, 3600)
    resume_s: float = knob(60.0, "how long a reply waits for a reader to come back", 0.0, 86_400)
    max_replies: int = knob(512, "replies kept for resuming; the oldest finished one goes first", 1, 100_000)
    await_readers_s: float = knob(10.0, "how long a held generation waits for its readers", 0.1, 600)
    slow_policy: str = knob("pause", "what a slow reader gets: pause, coalesce, abort or buffer")

    # The classroom
    max_rooms: int = knob(20, "rooms at once: a school's", 1, 10_000)
    room_participants: int = knob(600, "phones in one room: a lecture hall's", 1, 100_000)
    room_hours: float = knob(24.0, "a room and all that was said in it is deleted after this", 0.01, 720)
    room_guesses_per_minute: int = knob(
        20, "codes of no room that one address may try; codes that are right never count", 1, 100_000
    )
    room_messages_per_minute: int = knob(100, "commands on one room's socket; pings are free", 1, 1_000_000)
    room_hosts: str = knob("here", "who may open a room: here (at this machine) or anyone")
    rooms_file: str = knob("", "rooms survive a restart in this file; empty: one a port in the cache folder")

    # The sockets
    ws_max_bytes: int = knob(65_536, "one WebSocket message: a prompt in any script fits", 1024, 16_777_216)
    ws_messages_per_minute: int = knob(100, "messages on one socket; ack and ping are free", 1, 1_000_000)
    heartbeat_s: float = knob(10.0, "silence before a ping: proxies give up after 20 to 60 s", 0.1, 600)
    vendor_ping_s: float = knob(
        15.0, "silence before a ping on /v1: some clients take a comment for JSON, so rarely", 0.1, 600
    )
    ws_replies: int = knob(16, "replies one socket reads at once; each has a task of its own", 1, 10_000)
    frame_bytes: int = knob(
        0,
        "frames are filled with blanks to multiples of it: behind TLS lengths tell tokens",
        0,
        4096,
    )
    header_s: float = knob(15.0, "a request's head has to be here by then, else it is an attack", 0.1, 600)
    body_s: float = knob(30.0, "and its body so long after: a megabyte over a poor link", 0.1, 3600)
    keep_alive_s: int = knob(
        75, "an idle HTTP connection; longer than proxies keep theirs, or they meet a closed one", 1, 3600
    )
    unsent_bytes: int = knob(
        4096, "the kernel's unsent bytes before a send waits: then progress means something", 1, 16_777_216
    )
    buffered_bytes: int = knob(4096, "the same in our own memory, per connection", 0, 16_777_216)
    send_buffer_bytes: int = knob(0, "SO_SNDBUF; 0: the system's (it grows, but see unsent)", 0, 16_777_216)
    trusted_proxies: str = knob(
        "", "addresses, comma-separated, whose X-Forwarded-* headers are believed; empty: nobody's"
    )
    drain_s: float = knob(10.0, "how long running replies may finish at shutdown", 0.0, 600)

    @property
    def cache_dir(self) -> Path:
        """Where converted models are kept: the user's cache folder."""
        base = os.environ.get("XDG_CACHE_HOME")
        return (Path(base) if base else Path.home() / ".cache") / "firstword"


def from_environment(environ: Mapping[str, str] = os.environ, **overrides: Any) -> Settings:
    """Settings from ``FIRSTWORD_*``; ``overrides`` (the command line's, None: not given) win.

    Raises StartupError naming the variable, its value and the limits.
    """
    hints = get_type_hints(Settings)
    values: dict[str, Any] = {}
    for f in fields(Settings):
        if overrides.get(f.name) is not None:
            values[f.name] = overrides[f.name]
            continue
        raw = environ.get(f"FIRSTWORD_{f.name.upper()}")
        if raw is not None:
            values[f.name] = _parse(f.name, raw, hints[f.name])
    settings = Settings(**values)
    _check(settings)
    return settings


# Private


def _parse(name: str, raw: str, kind: type) -> Any:
    assert kind in (str, int, float)
    try:
        return kind(raw)
    except ValueError:
        raise StartupError(f"FIRSTWORD_{name.upper()}={raw!r} is not a {kind.__name__}") from None


def _check(settings: Settings) -> None:
    for f in fields(Settings):
        value = getattr(settings, f.name)
        low, high = f.metadata["low"], f.metadata["high"]
        if low is not None and not (low <= value <= high):
            raise StartupError(f"FIRSTWORD_{f.name.upper()}={value} is not between {low:g} and {high:g}")
    for name, choices in (
        ("engine", ("local", "scripted", "upstream")),
        ("slow_policy", ("pause", "coalesce", "abort", "buffer")),
        ("log", ("quiet", "json")),
        ("room_hosts", ("here", "anyone")),
    ):
        if getattr(settings, name) not in choices:
            raise StartupError(
                f"FIRSTWORD_{name.upper()}={getattr(settings, name)!r} is none of {', '.join(choices)}"
            )
    if settings.low_tokens >= settings.high_tokens:
        raise StartupError("FIRSTWORD_LOW_TOKENS must be below FIRSTWORD_HIGH_TOKENS")
