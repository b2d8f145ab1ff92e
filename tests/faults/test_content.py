"""F29 without a page: what strangers say stays text in an error, and in a spreadsheet."""

from __future__ import annotations

import csv
import io

import pytest

from app.errors import BadRequest
from app.intake.fields import Fields
from app.rooms.export import harmless
from tests.faults.payloads import PAYLOADS


def test_there_are_enough_of_them() -> None:
    assert len(PAYLOADS) >= 200


@pytest.mark.parametrize("read", [lambda f: f.choice("x", ("a",), None), lambda f: f.integer("x", 0, 1, 0)])
def test_an_error_that_repeats_a_payload_is_one_line(read) -> None:
    for payload in PAYLOADS:
        with pytest.raises(BadRequest) as refused:
            read(Fields({"x": payload}))
        assert refused.value.message.isprintable()
        assert refused.value.message.replace("…", "").isascii()
    for payload in PAYLOADS:
        with pytest.raises(BadRequest) as refused:
            Fields({payload: 1}).refuse_others()
        assert refused.value.message.isprintable()


def test_no_payload_is_a_formula_in_the_spreadsheet() -> None:
    for payload in PAYLOADS:
        out = io.StringIO(newline="")
        csv.writer(out).writerow([harmless(payload), "next"])
        ((cell, after),) = csv.reader(io.StringIO(out.getvalue(), newline=""))
        assert cell[:1] not in set("=+-@\t\r\n\0＝＋－＠") and after == "next"
