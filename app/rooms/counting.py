"""Counting: an open round's cards, or hands, become the results of its vote. Pure.

The stimulus check applies where phones showed the stimulus themselves; who watched the wall saw
what the wall showed. The plan for a lane is when its first text left the server.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from app.rooms.ballot import LaneId, PositionChoice, lane_at, position_of
from app.rooms.results import Counted, Exclusion, Question, Results, check_sight, results
from app.rooms.round import Card, Round


def counted(round: Round, early: bool = False) -> Round:
    """The round with the results of the vote that closes now; ``early``: before its own rule said so."""
    found = count(round, early)
    return replace(round, revote_results=found) if round.revoting else replace(round, results=found)


def count(round: Round, early: bool = False) -> Results:
    """The results of the round's current vote."""
    ballots = []
    for card in round.cards.values():
        choice = round.choice(card)
        if choice is not None:
            felt = (card.felt.a, card.felt.b) if card.felt is not None and not round.revoting else None
            ballots.append(Counted(card.order, choice, _exclusion(round, card), felt))
    question = _question(round, one_order=not round.plan.mirror, early=early)
    return results(question, ballots, len(round.watchers))


def count_hands(round: Round) -> Results | None:
    """Hands in the wall's order, counted like ballots that nobody could check; None: none were."""
    hands = round.hands
    if hands is None:
        return None
    tally: tuple[tuple[PositionChoice, int], ...] = (
        ("1", hands.first),
        ("2", hands.second),
        ("same", hands.same),
    )
    ballots = [Counted(round.wall_order, choice) for choice, number in tally for _ in range(number)]
    return results(_question(round, one_order=True), ballots, len(ballots))


def count_both_ways(round: Round, earlier: Sequence[Round]) -> Results | None:
    """This round together with the same one shown in the other order; None: there was none.

    The unit is a participant: who chose the same lane both times chose it; who followed the position,
    or could not tell once, could not tell.
    """
    flipped = replace(round.plan, flip=not round.plan.flip)
    other = next((r for r in reversed(earlier) if r.plan == flipped and r.results is not None), None)
    if other is None or round.plan.mirror:
        return None
    ballots = []
    for number, card in round.cards.items():
        before = other.cards.get(number)
        if card.vote is not None and before is not None and before.vote is not None:
            lane, earlier_lane = lane_at(card.order, card.vote), lane_at(before.order, before.vote)
            choice: PositionChoice = (
                "same" if lane != earlier_lane or lane == "same" else position_of("ab", lane)
            )
            ballots.append(Counted("ab", choice))
    return results(_question(round, one_order=False), ballots, len(round.watchers & other.watchers))


# Private


def _question(round: Round, one_order: bool, early: bool = False) -> Question:
    plan = round.plan
    labels = (plan.lanes[0].label, plan.lanes[1].label)
    altered = round.stimulus is not None and round.stimulus.altered
    return Question(labels, plan.question, plan.catch, one_order, altered, early)


def _exclusion(round: Round, card: Card) -> Exclusion | None:
    if not round.plan.mirror:
        return None
    planned: dict[LaneId, float] = round.stimulus.first_text_ms if round.stimulus is not None else {}
    sight = card.sight
    return check_sight(planned, sight.first_paint_ms if sight else None, sight.hidden if sight else False)
