"""`python -m app.engine.model` makes a machine ready: converts the model, compiles for the processor.

The first start would do the same; set-up does it before, so that nobody waits for it then.
"""

from __future__ import annotations

import sys

from app.engine.model import load
from app.errors import StartupError
from app.settings import from_environment


def main() -> str | None:
    """Say what is going on, a line for each thing; the error's line, if there is one."""
    told: list[str] = []

    def tell(what: str, part: float | None) -> None:
        if what not in told:
            print(f"Preparing the model: {what}", flush=True)
            told.append(what)

    try:
        load(from_environment(), tell)
    except StartupError as error:
        return str(error)
    return None


if __name__ == "__main__":
    sys.exit(main())
