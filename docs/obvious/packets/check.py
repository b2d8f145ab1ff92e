"""Wherever the network cuts, the events are the same."""

from types import ModuleType


def check(streamer: ModuleType) -> None:
    stream = "data: one\n\ndata: two\n\n"
    for cut in range(len(stream)):
        came = list(streamer.events([stream[:cut], stream[cut:]]))
        assert came == ["one", "two"], f"cut at {cut}: {came}"
