"""All cases of the drill, by the names that docs/reliability.md gives them."""

from __future__ import annotations

from drill.autobahn import autobahn
from drill.bad_lines import bad_wifi, half_open, half_open_over_http
from drill.case import Case
from drill.class_lines import slow_phone, storm
from drill.crowd import idle, slowloris, stream_beside_idle, zombie
from drill.engine_faults import hangs, little_memory, out_of_memory
from drill.offline import offline
from drill.phone_locks import locks
from drill.proxies import buffering, idle_behind_nginx, through_caddy
from drill.soak import soak, soak_model

CASES = (
    Case("E8", "chat, race, lab, lesson and a room without a network: no packet wants to leave", offline),
    Case("F02", "a peer that takes nothing is gone within 60 s, its reply aborted, all clean", zombie),
    Case(
        "F03",
        "one phone of 300 at 8 kbit/s: others' lag p95 +10 % or +5 ms; it gets the same text",
        slow_phone,
    ),
    Case(
        "F04", "1000 sockets that say nothing for 10 min: at most 40 KiB each, none dropped", idle, aside=True
    ),
    Case("F04-STREAM", "p95 gap of a stream beside them +5 % or +5 ms", stream_beside_idle),
    Case(
        "F05",
        "500 joins in 10 s, p95 5 s; after a restart all back in 30 s, at most 60 tries a second",
        storm,
    ),
    Case("F06", "all packets dropped: said within 25 s, let go of within 45 s, resumed on return", half_open),
    Case(
        "F06-HTTP",
        "the same where WebSockets are refused: said within 25 s, let go of within 45 s, resumed",
        half_open_over_http,
    ),
    Case(
        "F07",
        "300 ± 100 ms, 3 % loss, 256 kbit/s: same text, no error, true split of the first word",
        bad_wifi,
    ),
    Case("F08", "copied nginx file: bursts >= 0.9 x tokens; spoilt: lumps", buffering),
    Case("F08-CADDY", "copied Caddyfile: bursts >= 0.9 x tokens; WebSockets too", through_caddy),
    Case("F08-IDLE", "an idle socket behind the copied nginx file lives on", idle_behind_nginx, aside=True),
    Case("F13", "a phone frozen and cut off, five times: right within 3 s of its return, vote kept", locks),
    Case(
        "F16",
        "no memory: the offender alone is told; device lost: all told in 1 s, and it comes back",
        out_of_memory,
    ),
    Case(
        "F17",
        "KV for a quarter of what is wanted: texts as alone, nobody waits 60 s, refused beyond the line",
        little_memory,
    ),
    Case(
        "F19",
        "a step that hangs is said at 5 s and ended at 30 s, pings answered; loop late p99 50 ms",
        hangs,
    ),
    Case("F20", "Autobahn Testsuite: no failure beyond the websockets library's published one", autobahn),
    Case("F23", "slow requests dropped within 20 s, page p95 +20 % or +5 ms, all clean", slowloris),
    Case("SOAK", "at most 2 MiB more after the warm-up; descriptors, tasks and KV back to baseline", soak),
    Case("SOAK-MODEL", "the same with the model and its process", soak_model),
)
