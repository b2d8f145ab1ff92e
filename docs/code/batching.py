"""One engine, many sequences: what scheduling by iterations changes. Run it: python docs/code/batching.py

Time is counted in steps. A step makes one token for every sequence in the batch.
"""

from dataclasses import dataclass, field


@dataclass
class Sequence:
    """Somebody's answer: when it was asked for, how long it will be, when each token was made."""

    arrives: int
    length: int
    made_at: list[int] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return len(self.made_at) == self.length

    @property
    def first_token(self) -> int:
        return self.made_at[0] - self.arrives


# [by_request]
def by_request(sequences: list[Sequence], slots: int) -> None:
    """Take a batch, finish all of it, take the next: the long one keeps everybody."""
    waiting, step = list(sequences), 0
    while waiting:
        batch = [s for s in waiting if s.arrives <= step][:slots]
        waiting = [s for s in waiting if s not in batch]
        while any(not s.over for s in batch):
            step += 1
            for s in batch:
                if not s.over:
                    s.made_at.append(step)
        step += not batch


# [/by_request]


# [by_iteration]
def by_iteration(sequences: list[Sequence], slots: int) -> None:
    """Look at the door before every step: whoever is finished leaves, whoever waits comes in."""
    step = 0
    while any(not s.over for s in sequences):
        batch = [s for s in sequences if s.arrives <= step and not s.over][:slots]
        step += 1
        for s in batch:
            s.made_at.append(step)


# [/by_iteration]


def example() -> list[Sequence]:
    """A long answer first, then three short ones, a step apart."""
    return [Sequence(0, 40), Sequence(1, 5), Sequence(2, 5), Sequence(3, 5)]


if __name__ == "__main__":
    for schedule in (by_request, by_iteration):
        sequences = example()
        schedule(sequences, slots=2)
        waits = [s.first_token for s in sequences]
        print(f"{schedule.__name__:<13} steps until each one's first token: {waits}")
