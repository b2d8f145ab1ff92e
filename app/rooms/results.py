"""Results: the counts of a closed vote, what they are worth, and the sentence to read aloud.

Votes whose stimulus was not what was planned are left out by a rule stated beforehand: a page that
was hidden, a first paint more than 250 ms off the plan, or no report at all. How many is always
told. Pure; it refuses to know rooms and rounds: it gets plain ballots.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from app.rooms import statistics
from app.rooms.ballot import LaneChoice, LaneId, Order, PositionChoice, lane_at

#: A first paint further from the plan than this was another stimulus.
TOLERANCE_MS = 250.0
Exclusion = Literal["hidden", "off_plan", "no_report"]
Verdict = Literal["too_few", "difference", "no_difference"]


@dataclass(frozen=True, slots=True)
class Counted:
    """One ballot as it comes to be counted."""

    order: Order
    choice: PositionChoice
    exclusion: Exclusion | None = None
    felt_s: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: the lanes' labels, and whether they were alike (a catch round).

    ``altered``: what was shown had been stopped or slowed down; ``early``: closed before the rule said so.
    """

    labels: tuple[str, str]
    kind: Literal["faster", "rather"] = "faster"
    catch: bool = False
    one_order: bool = False
    altered: bool = False
    early: bool = False


class Results(msgspec.Struct, frozen=True, omit_defaults=True):
    """One closed vote. Shares are 0..1; ``low`` and ``high`` bound the leader's true share (95 %).

    ``needed``: the majority of so many decided votes at which the sign test says 5 %; None: there is none.
    """

    ballots: int
    could_vote: int
    lanes: dict[LaneChoice, int]
    positions: dict[PositionChoice, int]
    excluded: dict[Exclusion, int]
    decided: int
    leader: str | None
    leader_votes: int
    low: float
    high: float
    p: float
    needed: int | None
    verdict: Verdict
    sentence: str
    caveats: tuple[str, ...]
    one_order: bool = False
    altered: bool = False
    early: bool = False
    felt_s: dict[LaneId, float] = {}


def check_sight(
    planned_ms: dict[LaneId, float], painted_ms: dict[LaneId, float] | None, hidden: bool
) -> Exclusion | None:
    """Whether a phone showed what was planned; ``painted_ms`` None: it never said."""
    if painted_ms is None:
        return "no_report"
    if hidden:
        return "hidden"
    for lane, planned in planned_ms.items():
        painted = painted_ms.get(lane)
        if painted is None or abs(painted - planned) > TOLERANCE_MS:
            return "off_plan"
    return None


def results(question: Question, ballots: Sequence[Counted], could_vote: int) -> Results:
    """Count a closed vote. A catch round is counted by position: there is nothing else to prefer."""
    good = [ballot for ballot in ballots if ballot.exclusion is None]
    lanes = Counter(lane_at(ballot.order, ballot.choice) for ballot in good)
    positions = Counter(ballot.choice for ballot in good)
    excluded = Counter(ballot.exclusion for ballot in ballots if ballot.exclusion is not None)
    first, second = (positions["1"], positions["2"]) if question.catch else (lanes["a"], lanes["b"])
    decided, most = first + second, max(first, second)
    names = ("1", "2") if question.catch else ("a", "b")
    leader = None if first == second else names[0] if first > second else names[1]
    low, high = statistics.wilson(most, decided)
    p = statistics.sign_test(most, decided)
    verdict: Verdict = (
        "too_few"
        if decided < statistics.MIN_DECIDED
        else "difference"
        if p <= statistics.LEVEL
        else "no_difference"
    )
    counts = _Split(decided, most, leader, low, high, p, verdict)
    return Results(
        ballots=len(ballots),
        could_vote=could_vote,
        lanes={"a": lanes["a"], "b": lanes["b"], "same": lanes["same"]},
        positions={"1": positions["1"], "2": positions["2"], "same": positions["same"]},
        excluded={"hidden": excluded["hidden"], "off_plan": excluded["off_plan"],
                  "no_report": excluded["no_report"]},
        decided=decided,
        leader=leader,
        leader_votes=most,
        low=round(low, 6),
        high=round(high, 6),
        p=p,
        needed=statistics.needed(decided),
        verdict=verdict,
        sentence=_sentence(question, counts, lanes["same"]),
        caveats=_caveats(question, excluded, decided),
        one_order=question.one_order,
        altered=question.altered,
        early=question.early,
        felt_s=_felt(good),
    )  # fmt: skip


# Private


@dataclass(frozen=True, slots=True)
class _Split:
    decided: int
    most: int
    leader: str | None
    low: float
    high: float
    p: float
    verdict: Verdict


def _sentence(question: Question, split: _Split, same: int) -> str:
    """What to read aloud: counts first, then what they allow us to say, then where it holds."""
    if split.decided == 0:
        return "Nobody who could be counted decided for one of the two."
    what = _named(question, split.leader)
    counted = f"{split.most} of {split.decided} who decided {_verb(question)} {what}"
    if split.leader is None:
        counted = f"Of {split.decided} who decided, exactly half {_verb(question)} each"
    interval = f"95 % interval {100 * split.low:.0f} to {100 * split.high:.0f} %"
    tests = {
        "too_few": f"with fewer than {statistics.MIN_DECIDED} decided votes there is no verdict",
        "difference": f"{statistics.shown_p(split.p)}: a coin would rarely do this",
        "no_difference": f"{statistics.shown_p(split.p)}: a coin could do this, too",
    }
    unsure = f"; {same} could not tell" if same else ""
    return f"{counted} ({interval}{unsure}); {tests[split.verdict]}. This class, this reply, this network."


def _verb(question: Question) -> str:
    return "preferred" if question.kind == "rather" else "chose"


def _named(question: Question, leader: str | None) -> str:
    if leader is None:
        return ""
    if question.catch:
        return "the first" if leader == "1" else "the second"
    label = question.labels[0] if leader == "a" else question.labels[1]
    return f"“{label}”" if label else f"lane {leader}"


def _caveats(question: Question, excluded: Counter[Exclusion], decided: int) -> tuple[str, ...]:
    """In the order in which a teacher should say them; each is true of this vote."""
    found = []
    if question.catch:
        found.append("Both were the same: whatever difference there is comes from the position alone.")
    if question.one_order:
        found.append("Everybody saw one order: this showing only. A second round the other way would tell.")
    if question.altered:
        found.append("It was stopped or slowed down while it played: nobody saw it as it came.")
    if question.early:
        found.append("The vote was closed before the rule said so: whoever may stop at any time finds more.")
    if decided < statistics.MIN_DECIDED:
        found.append(f"Fewer than {statistics.MIN_DECIDED} decided votes: the interval only, no verdict.")
    if total := sum(excluded.values()):
        reasons = ", ".join(f"{count} {_WHY[reason]}" for reason, count in sorted(excluded.items()))
        found.append(f"{total} left out by the rule that was set before: {reasons}.")
    found.append(
        "Several questions in one lesson find something by chance now and then: call it exploratory."
    )
    return tuple(found)


_WHY: dict[Exclusion, str] = {
    "hidden": "with the page hidden",
    "off_plan": f"whose first word came more than {TOLERANCE_MS:.0f} ms off the plan",
    "no_report": "without a report of what was shown",
}


def _felt(good: Sequence[Counted]) -> dict[LaneId, float]:
    """The median felt time of each lane."""
    pairs = [ballot.felt_s for ballot in good if ballot.felt_s is not None]
    a, b = statistics.median([pair[0] for pair in pairs]), statistics.median([pair[1] for pair in pairs])
    return {"a": a, "b": b} if a is not None and b is not None else {}
