"""Views: what each role is shown of a room: the wire's ``room`` and ``me`` frames, as plain values.

One view for all phones, one for the wall, one for the teacher, and a small private one for each
phone. Nothing about an open vote but how many have voted is in any of them; that a round was a
catch round is told with its results. Pure. It refuses to know sockets, and who has which view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.rooms.ballot import LaneId
from app.rooms.counting import count_both_ways, count_hands
from app.rooms.results import Results
from app.rooms.round import Round
from app.rooms.sending import Sending
from app.rooms.state import Participant, Room
from app.rooms.statistics import holm

View = dict[str, Any]


def phone_view(room: Room) -> View:
    """What all phones share: it changes with the phases, not with every vote."""
    return {
        "code": room.code,
        "title": room.title,
        "phase": room.phase,
        "closed": room.closed,
        "frozen": room.frozen,
        "blank": room.blank,
        "hands_only": room.hands_only,
        "host_online": room.host_online,
        "round": _round(room, room.round) if room.round is not None else None,
        "sending": _sending(room.sending) if room.sending is not None else None,
        "spotlight": _spotlight(room),
        "class_size": _roughly(len(room.online())),
    }


def wall_view(room: Room) -> View:
    """What the projector shows: the phones' view, head-counts, and the class's distribution."""
    view = phone_view(room)
    view["count"] = None if room.hide_count else len(room.online())
    if room.round is not None:
        view["round"] |= {"order": room.round.wall_order, "voted": room.round.num_votes,
                          "could_vote": len(room.round.watchers)}  # fmt: skip
    if room.sending is not None:
        view["sending"] |= _progress(room.sending)
    return view


def host_view(room: Room) -> View:
    """What the console shows: everything but the secrets and the open vote's split."""
    view = wall_view(room)
    view |= {
        "count": len(room.online()),
        "hide_count": room.hide_count,
        "wall_token": room.wall_token,
        "participants": [_person(person) for person in room.participants.values()],
        "rounds": _past_rounds(room.rounds),
        "num_sendings": len(room.sendings),
    }
    if room.round is not None:
        view["round"] |= {"plan": room.round.plan, "hands": room.round.hands}
    if room.sending is not None:
        sending = room.sending
        view["sending"] |= {"prompts": sending.prompts, "failures": sending.failures}
    return view


def private_view(room: Room, number: int) -> View:
    """What one phone is told of itself."""
    person = room.participants[number]
    view: View = {
        "number": number,
        "nickname": person.nickname,
        "approved": person.approved,
        "card": None,
        "watcher": False,
        "sending": None,
    }
    if room.round is not None:
        view["card"] = room.card_of(number)
        view["watcher"] = number in room.round.watchers
    if (sending := room.sending) is not None:
        view["sending"] = {
            "prompt": sending.prompt_of(number),
            "place": sending.line.index(number) if number in sending.line else None,
            "reply": sending.replies.get(number),
            "running": number in sending.running,
            "failure": sending.failures.get(number),
            "failure_code": sending.failure_codes.get(number),
            "measure": sending.measures.get(number),
        }
    return view


# Private


def _roughly(num: int) -> int:
    """The power of two that is not less: it seldom changes, and phones need no more to stand in line by."""
    return 1 << max(num - 1, 0).bit_length()


def _round(room: Room, round: Round) -> View:
    plan = round.plan
    told = room.phase in ("reveal", "discuss") or round.revoting
    view: View = {
        "id": round.id,
        "question": plan.question,
        "ask_prediction": plan.ask_prediction,
        "ask_felt": plan.ask_felt,
        "mirror": plan.mirror,
        "recording": plan.recording,
        "prompt": plan.prompt,
        # A catch round is announced like any other: its lanes' names would give it away.
        "lanes": None if plan.catch and not told else {"a": plan.lanes[0], "b": plan.lanes[1]},
        "ballot": _open_ballot(room, round),
        "closes": plan.closes,
        "closes_ms": round.closes_ms,
        "speed": round.speed,
        "stimulus": round.stimulus,
    }
    if room.phase in ("reveal", "discuss"):
        view |= _results(round, room.rounds)
    return view


def _open_ballot(room: Room, round: Round) -> str | None:
    match room.phase:
        case "predict":
            return "predict" if round.plan.ask_prediction else None
        case "vote":
            return "revote" if round.revoting else "vote"
    return None


def _results(round: Round, earlier: Sequence[Round]) -> View:
    predicted = [card.predict for card in round.cards.values() if card.predict is not None]
    return {
        "catch": round.plan.catch,
        "results": round.results,
        "revote_results": round.revote_results,
        "hands_results": count_hands(round),
        "both_ways_results": count_both_ways(round, earlier),
        "predicted": {choice: predicted.count(choice) for choice in ("a", "b", "same")},
        "first_word_ms": _painted(round),
    }


def _painted(round: Round) -> View:
    """Each lane's first paint on every phone that said so, in ms, and the server's share of it."""
    sights = [card.sight for card in round.cards.values() if card.sight is not None]
    planned = round.stimulus.first_text_ms if round.stimulus is not None else {}
    lanes: tuple[LaneId, LaneId] = ("a", "b")
    return {
        lane: {
            "server_ms": planned.get(lane),
            "phones_ms": sorted(s.first_paint_ms[lane] for s in sights if lane in s.first_paint_ms),
        }
        for lane in lanes
    }


def _past_rounds(rounds: Sequence[Round]) -> list[View]:
    """What was; a lesson with several questions reads ``p_holm``, which counts for how many there were."""
    found = [_past_round(round) for round in rounds]
    tested = [view for view in found if view["p"] is not None]
    for view, p in zip(tested, holm([view["p"] for view in tested]), strict=True):
        view["p_holm"] = p
    return found


def _past_round(round: Round) -> View:
    results: Results | None = round.results
    tests = results is not None and results.verdict != "too_few" and not round.plan.catch
    return {
        "p": results.p if results is not None and tests else None,
        "p_holm": None,
        "id": round.id,
        "catch": round.plan.catch,
        "prompt": round.plan.prompt,
        "recording": round.plan.recording,
        "flip": round.plan.flip,
        "mirror": round.plan.mirror,
        "sentence": results.sentence if results is not None else None,
    }


def _sending(sending: Sending) -> View:
    return {
        "id": sending.id,
        "mode": sending.plan.mode,
        "prompt": sending.plan.prompt,
        "max_tokens": sending.plan.max_tokens,
        "num_line": len(sending.line),
        "started_ms": sending.started_ms,
    }


def _progress(sending: Sending) -> View:
    return {
        "num_prompts": len(sending.prompts),
        "num_started": len(sending.replies),
        "num_failed": len(sending.failures),
        "num_measured": len(sending.measures),
        "distribution": sending.distribution(),
        "server_first_ms": sorted(sending.server_ms.values()),
    }


def _spotlight(room: Room) -> View | None:
    number = room.spotlight
    text = room.sending.prompt_of(number) if number is not None and room.sending is not None else None
    if text is None or number is None:
        return None
    person = room.participants.get(number)
    shown = person.nickname if person is not None and person.approved else ""
    return {"number": number, "nickname": shown, "text": text}


def _person(person: Participant) -> View:
    return {
        "number": person.number,
        "nickname": person.nickname,
        "approved": person.approved,
        "online": person.online,
    }
