"""`firstword models`: which models are here, how large, under which licence, and where.

It prints a list; what is on it is model_list's.

Exit codes: 0 well, 1 there is no model at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import typer
from rich.console import Console
from rich.markup import escape

from app.commands.exits import FAILED
from app.settings import Settings

if TYPE_CHECKING:
    from app.commands.model_list import InstalledModel

_CURRENT = {
    True: ", [bold]in use[/] for the default",
    False: ", of an earlier file or format: nothing reads it, it may be deleted",
    None: "",
}
_KINDS = {
    "packaged": "installed with Firstword",
    "converted": "converted copy, for a fast start",
    "hub": "in Hugging Face's cache",
}


def models(
    as_json: Annotated[bool, typer.Option("--json", help="The list as JSON, for programs.")] = False,
) -> None:
    """List the models on this machine: sizes, licences, places, and which one is the default.

    `firstword serve --model` takes any other decoder-only model: a Hugging
    Face id (downloaded on first use), a folder with safetensors, or a GGUF file.

    Exit codes: 0 well, 1 there is no model at all.
    """
    # Here, or every other command would wait for the libraries that read model files.
    from app.commands.model_list import hub_folder, installed

    found = installed(Settings().cache_dir, hub_folder())
    if as_json:
        default = next((model.name for model in found if model.default), None)
        print(msgspec.json.encode({"default": default, "models": found}).decode())
    else:
        _show(Console(), found)
    if not found:
        raise SystemExit(FAILED)


# Private


def _show(console: Console, found: list[InstalledModel]) -> None:
    if not found:
        console.print("No model is here: run `make setup` for the default one, or name one with --model.")
    for model in found:
        default = ", [bold]the default[/]" if model.default else ""
        licence = f", licence {escape(model.licence)}" if model.licence else ""
        size = f"{model.bytes / 1e6:.0f} MB"
        kind = _KINDS[model.kind] + _CURRENT[model.current]
        console.print(f"[bold]{escape(model.name)}[/]  {size}{licence}, {kind}{default}")
        console.print(f"  {escape(model.path)}", style="dim", highlight=False, soft_wrap=True)
        if model.use is not None:
            console.print(f"  firstword serve --model {escape(model.use)}", style="dim", highlight=False)
