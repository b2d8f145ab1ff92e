"""Export: a room's rounds and sendings for the teacher, as CSV and as JSON. Pure.

A row is one participant in one round, or one measurement; participants are numbers. No key, token
or address is in it, and no nickname. Texts that a spreadsheet would take for formulas get an
apostrophe in front: a student's prompt must not compute on the teacher's machine.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import msgspec

from app.rooms.ballot import lane_at
from app.rooms.counting import count_hands
from app.rooms.round import Round
from app.rooms.sending import Sending
from app.rooms.state import Room

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
_ROUND_COLUMNS = (
    "kind", "id", "participant", "catch", "question", "lane_a", "lane_b", "order", "watched", "predict",
    "vote_position", "vote_lane", "revote_position", "revote_lane", "felt_a_s", "felt_b_s",
    "planned_a_ms", "planned_b_ms", "painted_a_ms", "painted_b_ms", "hidden", "clock_error_ms", "prompt",
    "mode", "first_word_ms", "server_ms",
)  # fmt: skip


def to_csv(room: Room) -> str:
    """RFC 4180, one header line; lines end in CR LF."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(_ROUND_COLUMNS)
    for round in _rounds(room):
        for number in sorted(round.cards):
            writer.writerow(_row(_round_cells(round, number)))
    for sending in _sendings(room):
        for number in sorted(sending.measures):
            writer.writerow(_row(_sending_cells(sending, number)))
    return out.getvalue()


def to_json(room: Room) -> bytes:
    """Everything that a class said and measured, for programs."""
    rounds = [
        {**msgspec.to_builtins(round, str_keys=True), "hands_results": count_hands(round)}
        for round in _rounds(room)
    ]
    return msgspec.json.encode(
        {
            "format": "firstword-room",
            "version": 1,
            "code": room.code,
            "title": room.title,
            "created_epoch_s": room.created_epoch_s,
            "rounds": rounds,
            "sendings": _sendings(room),
        }
    )


def harmless(text: str) -> str:
    """``text`` as a cell that no spreadsheet takes for a formula, on one logical line."""
    text = text.replace("\0", "")
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


# Private


def _rounds(room: Room) -> list[Round]:
    """What is over, and what is open as far as it may be told: votes in progress stay hidden."""
    rounds = list(room.rounds)
    if room.round is not None:
        rounds.append(_without_open_votes(room, room.round))
    return rounds


def _without_open_votes(room: Room, round: Round) -> Round:
    if room.phase in ("reveal", "discuss"):
        return round
    names = ("revote",) if round.revoting else ("predict", "vote")
    hidden: dict[str, Any] = dict.fromkeys(names)
    cards = {n: msgspec.structs.replace(card, **hidden) for n, card in round.cards.items()}
    return msgspec.structs.replace(round, cards=cards)


def _sendings(room: Room) -> list[Sending]:
    return [*room.sendings, *([room.sending] if room.sending is not None else [])]


def _row(cells: dict[str, Any]) -> list[Any]:
    row = []
    for column in _ROUND_COLUMNS:
        value = cells.get(column)
        if isinstance(value, bool):
            value = "yes" if value else "no"
        row.append("" if value is None else harmless(value) if isinstance(value, str) else value)
    return row


def _round_cells(round: Round, number: int) -> dict[str, Any]:
    card, plan = round.cards[number], round.plan
    planned = round.stimulus.first_text_ms if round.stimulus is not None else {}
    painted = card.sight.first_paint_ms if card.sight is not None else {}
    return {
        "kind": "round",
        "id": round.id,
        "participant": number,
        "catch": plan.catch,
        "question": plan.question,
        "lane_a": plan.lanes[0].label or plan.lanes[0].pace,
        "lane_b": plan.lanes[1].label or plan.lanes[1].pace,
        "order": card.order,
        "watched": number in round.watchers,
        "predict": card.predict,
        "vote_position": card.vote,
        "vote_lane": lane_at(card.order, card.vote) if card.vote is not None else None,
        "revote_position": card.revote,
        "revote_lane": lane_at(card.order, card.revote) if card.revote is not None else None,
        "felt_a_s": card.felt.a if card.felt is not None else None,
        "felt_b_s": card.felt.b if card.felt is not None else None,
        "planned_a_ms": planned.get("a"),
        "planned_b_ms": planned.get("b"),
        "painted_a_ms": painted.get("a"),
        "painted_b_ms": painted.get("b"),
        "hidden": card.sight.hidden if card.sight is not None else None,
        "clock_error_ms": card.sight.clock_error_ms if card.sight is not None else None,
        "prompt": plan.prompt if plan.prompt is not None else f"recording {plan.recording}",
    }


def _sending_cells(sending: Sending, number: int) -> dict[str, Any]:
    measure = sending.measures[number]
    return {
        "kind": "sending",
        "id": sending.id,
        "participant": number,
        "hidden": measure.hidden,
        "clock_error_ms": measure.clock_error_ms,
        "prompt": sending.prompt_of(number),
        "mode": sending.plan.mode,
        "first_word_ms": measure.first_word_ms,
        "server_ms": measure.server_ms,
    }
