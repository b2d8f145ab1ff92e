"""Report: a measurement as one HTML file that needs nothing else: no scripts, no network.

It refuses to compute: numbers come from the measurement, their formulas from the timeline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from app.client.exchange import Exchange
from app.client.measurement import Measurement, arrivals_of, tokens_of
from app.client.strip_svg import strip_svg
from app.timeline.formulas import FORMULAS

_TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
#: More strips than these nobody compares.
_MAX_DRAWN = 40


@dataclass(frozen=True, slots=True)
class Setting:
    """What was measured, in words for people."""

    url: str
    dialect: str
    model: str
    prompt: str
    how: str
    made_at: str
    version: str


def render(measurement: Measurement, setting: Setting, remarks: Sequence[str] = ()) -> str:
    """The whole page. ``remarks``: what has to be known to read the numbers rightly."""
    # Here, or every command would wait for a library that only reports need.
    from jinja2 import Environment, FileSystemLoader, select_autoescape

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=select_autoescape(),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawn = measurement.good[:_MAX_DRAWN]
    axis_ms = max([500.0, *(_end_ms(exchange) for exchange in drawn)])
    return environment.get_template("measure_report.html").render(
        setting=setting,
        measurement=measurement,
        result=measurement.result,
        rows=[_row(exchange, axis_ms) for exchange in drawn],
        left_out=len(measurement.good) - len(drawn),
        failures=measurement.failures,
        remarks=remarks,
        formulas=FORMULAS,
    )


# Private


def _row(exchange: Exchange, axis_ms: float) -> dict[str, object]:
    arrivals = arrivals_of(exchange)
    how = "streamed" if exchange.streamed else "all at once"
    first_ms, end_ms = arrivals[0].at_ms, _end_ms(exchange)
    label = f"{how}: first word after {first_ms / 1000:.2f} s, last after {end_ms / 1000:.2f} s"
    strip: Markup = strip_svg(arrivals, end_ms=end_ms, axis_ms=axis_ms, label=label)
    return {
        "how": how,
        "first_ms": first_ms,
        "last_ms": end_ms,
        "tokens": tokens_of(exchange),
        "chunks": len(arrivals),
        "strip": strip,
    }


def _end_ms(exchange: Exchange) -> float:
    return (exchange.deltas[-1].at_ns - exchange.scheduled_ns) / 1e6
