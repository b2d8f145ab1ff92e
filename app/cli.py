"""The command line: `firstword serve`.

Reads options, makes Settings, hands over; prints one clear line and exits non-zero when a command
cannot start. It refuses to know how anything is served or generated.

Exit codes: 0 well, 1 the command failed, 2 wrong usage.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from app.errors import StartupError
from app.settings import from_environment

app = typer.Typer(
    name="firstword",
    help="Feel the first word: chat with a local language model, streamed or all at once.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.callback()
def about() -> None:
    """Feel the first word: chat with a local language model, streamed or all at once."""


@app.command()
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
) -> None:
    """Serve the chat page and the API. Every other knob is an environment variable (see the README)."""
    from app.server import run

    with _one_line_errors():
        settings = from_environment(
            host=host, port=port, model=model, device=device, dtype=dtype, engine=engine, script=script,
            upstream=upstream, upstream_model=upstream_model, upstream_key_env=upstream_key_env,
            grpc_port=grpc_port,
        )  # fmt: skip
        run(settings)


def main() -> None:
    """Entry point of the console script."""
    app()


# Private


class _one_line_errors:
    """Turn StartupError into one line on stderr and exit code 1."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, StartupError):
            print(f"firstword: {error}", file=sys.stderr)
            raise SystemExit(1) from None
