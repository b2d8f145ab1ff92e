"""`firstword serve`: the chat page and the API on a port.

Reads options, makes Settings, hands over. It refuses to know how anything is served or generated.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from app.commands.exits import one_line_errors
from app.commands.lan import lan_text
from app.rooms.addresses import lan_addresses, mdns_name
from app.settings import Settings, from_environment


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; 0: a free one. [default: 8000]")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(help="Hugging Face id, folder with safetensors, or GGUF file. [default: SmolLM2-135M]"),
    ] = None,
    device: Annotated[str | None, typer.Option(help="auto, cuda, mps or cpu.")] = None,
    dtype: Annotated[str | None, typer.Option(help="auto, float32 or bfloat16.")] = None,
    engine: Annotated[str | None, typer.Option(help="local, scripted or upstream.")] = None,
    script: Annotated[
        str | None,
        typer.Option(help='For --engine scripted: a JSON list of [text or {"hex": "…"}, delay in ms].'),
    ] = None,
    upstream: Annotated[
        str | None, typer.Option(help="For --engine upstream: base URL of an OpenAI-compatible server.")
    ] = None,
    upstream_model: Annotated[str | None, typer.Option(help="The upstream model's name.")] = None,
    upstream_key_env: Annotated[
        str | None, typer.Option(help="Name of the environment variable that holds the upstream's key.")
    ] = None,
    grpc_port: Annotated[int | None, typer.Option(help="Serve gRPC on this port too (extra: grpc).")] = None,
    lan: Annotated[
        bool, typer.Option("--lan", help="Let the local network in, for a class; says what that exposes.")
    ] = False,
) -> None:
    """Serve the chat page and the API. Every other knob is an environment variable (see the README).

    Exit codes: 0 ended by a signal, 1 cannot start, 2 wrong usage.
    """
    # Here, or every other command would wait for the whole server to be imported.
    from app.server import run

    with one_line_errors():
        settings = from_environment(
            host="0.0.0.0" if lan and host is None else host, port=port, model=model, device=device,
            dtype=dtype, engine=engine, script=script,
            upstream=upstream, upstream_model=upstream_model, upstream_key_env=upstream_key_env,
            grpc_port=grpc_port,
        )  # fmt: skip
        if lan:
            run(_named(settings), on_listening=_say_where)
        else:
            run(settings)


# Private


def _named(settings: Settings) -> Settings:
    """The settings with this machine's own network name among those we answer to."""
    hosts = [settings.allowed_hosts, mdns_name() or ""]
    return replace(settings, allowed_hosts=",".join(host for host in hosts if host))


def _say_where(port: int) -> None:
    blocks = sys.stdout.isatty() and (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(lan_text(lan_addresses(), mdns_name(), port, blocks=blocks), flush=True)
