"""Backpressure by credit: a writer that may only be so far ahead. Run it: python docs/code/credit.py"""

import asyncio


# [credit]
class Credit:
    """The writer stops `high` tokens ahead of its reader, and goes on when only `low` are unread."""

    def __init__(self, high: int, low: int) -> None:
        self.high, self.low = high, low
        self.made = self.read = 0
        self._may_write = asyncio.Event()
        self._may_write.set()

    async def write(self) -> None:
        await self._may_write.wait()
        self.made += 1
        if self.made - self.read >= self.high:
            self._may_write.clear()  # out of the batch: others get the time

    def has_read(self, count: int) -> None:
        self.read = count
        if self.made - self.read <= self.low:
            self._may_write.set()


# [/credit]


async def example(tokens: int = 100, high: int = 8, low: int = 2) -> int:
    """A fast writer, a reader that takes one token at a time: the most that was ever unread."""
    credit, most = Credit(high, low), 0

    async def writer() -> None:
        for _ in range(tokens):
            await credit.write()

    writing = asyncio.create_task(writer())
    for count in range(1, tokens + 1):
        while credit.made < count:  # noqa: ASYNC110 - nobody tells us, and it is soon
            await asyncio.sleep(0)
        most = max(most, credit.made - credit.read)
        credit.has_read(count)
        await asyncio.sleep(0)
    await writing
    return most


if __name__ == "__main__":
    print(f"at most {asyncio.run(example())} tokens were unread")
