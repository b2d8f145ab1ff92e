"""How a reply is read, from a request's fields: links with their limits."""

import contextlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import BadRequest
from app.intake.fields import Fields, from_query, nested
from app.reply.link import Link
from app.rooms.plan import LanePlan
from app.transports.reading import Reading, read_attach, read_link, read_place


def test_without_a_link_there_is_none():
    assert read_link(Fields({})) is None and read_link(Fields({"link": None})) is None


def test_an_empty_link_is_one_without_faults():
    assert read_link(Fields({"link": {}})) == Link()


def test_every_property_is_read():
    asked = {
        "latency_ms": 80, "jitter_ms": 20, "kbps": 400, "loss_percent": 2, "stall_ms": 900,
        "flush_bytes": 4096, "flush_ms": 500, "seed": 7,
    }  # fmt: skip
    assert read_link(Fields({"link": asked})) == Link(80.0, 20.0, 400.0, 2.0, 900.0, 4096, 500.0, 7)


@pytest.mark.parametrize(
    ("link", "param"),
    [
        ("slow", "link"),
        ([], "link"),
        ({"latency_ms": -1}, "link.latency_ms"),
        ({"latency_ms": 5001}, "link.latency_ms"),
        ({"jitter_ms": float("nan")}, "link.jitter_ms"),
        ({"kbps": 0}, "link.kbps"),
        ({"loss_percent": 51}, "link.loss_percent"),
        ({"stall_ms": True}, "link.stall_ms"),
        ({"flush_bytes": 65_537}, "link.flush_bytes"),
        ({"flush_bytes": 0.5}, "link.flush_bytes"),
        ({"flush_ms": 0}, "link.flush_ms"),
        ({"seed": -1}, "link.seed"),
        ({"latency": 5}, "link.latency"),
    ],
)
def test_wrong_ones_are_refused_by_their_name(link: Any, param: str):
    with pytest.raises(BadRequest) as failure:
        read_link(Fields({"link": link}))
    assert failure.value.param == param


@given(
    st.sampled_from(Link.__struct_fields__),
    st.sampled_from([0, 1, 50, 2000, 5000, 30_000, 65_536, 100_000, 2**31, 2**53]),
    st.sampled_from([-1, 0, 1]),
)
def test_a_room_takes_the_same_links_as_every_other_wire(name: str, limit: int, beyond: int):
    link: dict[str, int] = {name: limit + beyond}
    taken: list[Link | None] = []
    with contextlib.suppress(BadRequest):
        taken.append(read_link(Fields({"link": link})))
    with contextlib.suppress(msgspec.ValidationError):
        taken.append(msgspec.convert({"link": link}, LanePlan).link)
    assert len(taken) != 1 and taken[:1] == taken[1:]


def test_an_attach_and_a_query_take_a_link_too():
    reply, how = read_attach(Fields({"reply": "r", "after": 3, "link": {"kbps": 8}}))
    assert (reply, how) == ("r", Reading(after=3, link=Link(kbps=8.0)))
    fields = from_query([("pace", "word"), ("link", '{"latency_ms": 200}')], {"link": nested})
    assert read_place(fields) == Reading("word", link=Link(latency_ms=200.0))


@pytest.mark.parametrize("text", ["", "{", "5", "[1]", '"x"', "[" * 5000, '{"seed":1}' + " " * 2000 + "x"])
def test_a_query_that_spells_no_object_is_refused(text: str):
    fields = from_query([("link", text)], {"link": nested})
    with pytest.raises(BadRequest, match="link must be a JSON object"):
        read_link(fields)
