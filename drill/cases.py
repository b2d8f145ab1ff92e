"""All cases of the drill, by the names that docs/reliability.md gives them."""

from __future__ import annotations

from drill.case import Case
from drill.crowd import idle, slowloris, zombie
from drill.nginx import buffering
from drill.soak import soak

CASES = (
    Case("F02", "a peer that takes nothing is gone within 60 s, its reply aborted, all clean", zombie),
    Case("F04", "at most 40 KiB a socket, none dropped, p95 gap of a stream +5 % or +5 ms", idle),
    Case(
        "F08", "copied nginx file: bursts >= 0.9 x tokens; spoilt: lumps; an idle socket lives on", buffering
    ),
    Case("F23", "slow requests dropped within 20 s, page p95 +20 % or +5 ms, all clean", slowloris),
    Case("SOAK", "memory slope at most 1 MiB a minute, descriptors and KV back to baseline", soak),
)
