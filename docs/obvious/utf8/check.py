"""Wherever the network cuts, the text is the same."""

from types import ModuleType


def check(streamer: ModuleType) -> None:
    text = "कितना नीला, naïve 🫖"
    data = text.encode()
    for cut in range(len(data)):
        assert "".join(streamer.texts([data[:cut], data[cut:]])) == text, f"cut at byte {cut}"
