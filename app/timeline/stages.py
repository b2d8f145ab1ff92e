"""Stages: where the wait for the first word went, from click to paint, as parts of one bar.

The server's clock and the client's are never subtracted from each other: each side gives spans of its
own, and the network is what is left. It refuses to guess: a stage that nobody measured is None.
"""

from __future__ import annotations

import msgspec

from app.events import Timings


class Stages(msgspec.Struct, frozen=True):
    """Parts of the time to the first paint, in ms, in order; those that are known add up to it.

    queue      in line                                  (server: received -> prefill begins)
    prefill    reading the prompt and making the first  (server: prefill begins -> first token made;
               token                                     the prompt's last step makes that token)
    hold_back  made, and not shown yet: half a          (server: first token made -> first piece out)
               character, a sentence, the whole reply
    network    both ways, with writing and reading      (client: first piece - server: let go)
    paint      the browser's drawing                    (client: first piece -> first paint)
    """

    queue_ms: float | None
    prefill_ms: float | None
    hold_back_ms: float | None
    network_ms: float | None
    paint_ms: float | None


def stages_of(
    timings: Timings | None,
    *,
    first_out_t_ms: float | None,
    first_arrival_ms: float | None,
    first_paint_ms: float | None = None,
) -> Stages:
    """The stages of one reply.

    ``first_out_t_ms`` is when the first delta was let go, ms since the server received the request:
    its ``released`` where it has one, else its ``t``. The other two are ms since the client sent it.
    None: not known (another server, no screen).
    """
    first_token_ms = timings.first_token_ms if timings is not None else None
    return Stages(
        queue_ms=timings.queue_ms if timings is not None else None,
        prefill_ms=timings.prefill_ms if timings is not None else None,
        hold_back_ms=_between(first_token_ms, first_out_t_ms),
        network_ms=_between(first_out_t_ms, first_arrival_ms),
        paint_ms=_between(first_arrival_ms, first_paint_ms),
    )


# Private


def _between(earlier_ms: float | None, later_ms: float | None) -> float | None:
    return None if earlier_ms is None or later_ms is None else later_ms - earlier_ms
