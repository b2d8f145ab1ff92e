"""Codes, nicknames, orders, guesses, keys: each small, each with its promise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.rooms.ballot import lane_at, order_of, position_of
from app.rooms.code import ALPHABET, LENGTH, new_code, normal_code
from app.rooms.guesses import Guesses
from app.rooms.nickname import nickname

SECOND_NS = 1_000_000_000


def test_a_code_has_six_characters_and_none_that_look_alike():
    codes = {new_code() for _ in range(200)}
    assert len(codes) == 200
    assert all(len(code) == LENGTH and not set(code) & set("0O1IL") for code in codes)
    assert len(set(ALPHABET)) == 31


def test_a_code_is_read_as_people_type_it():
    assert normal_code(" k7q-x2m ") == normal_code("K7Q X2M") == "K7QX2M"
    for wrong in ("", "K7QX2", "K7QX2MM", "K7QX2O", "K7QX2\u0661", "K" * 500):
        assert normal_code(wrong) is None


@given(st.text(max_size=30))
def test_any_text_is_a_code_or_none(text):
    code = normal_code(text)
    assert code is None or (len(code) == LENGTH and set(code) <= set(ALPHABET))


@given(st.text(min_size=1), st.integers(1, 50), st.integers(0, 200))
def test_every_block_of_four_has_each_order_twice(seed, round_id, block):
    orders = [order_of(seed, round_id, 4 * block + place) for place in (1, 2, 3, 4)]
    assert sorted(orders) == ["ab", "ab", "ba", "ba"]


def test_orders_differ_between_rounds_and_rooms():
    def orders(seed: str, round_id: int) -> list[str]:
        return [order_of(seed, round_id, number) for number in range(1, 41)]

    assert orders("x", 1) == orders("x", 1)
    assert orders("x", 1) != orders("x", 2) and orders("x", 1) != orders("y", 1)


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_vote_for_a_position_means_the_lane_that_stands_there(order):
    for lane in ("a", "b"):
        assert lane_at(order, position_of(order, lane)) == lane
    assert lane_at(order, "same") == "same"


@given(st.integers(1, 600), st.integers(0, 20))
def test_a_nickname_is_never_one_that_is_taken(number, spin):
    first = nickname("seed", number, spin, ())
    second = nickname("seed", number, spin, {first})
    assert first != second and len(first.split()) == 2 and len(first) <= 24


def test_when_all_nicknames_are_taken_there_is_still_one():
    class Everything:
        def __contains__(self, name: object) -> bool:
            return True

    assert nickname("seed", 7, 0, Everything()) == "Guest 7"


def test_guessing_is_limited_by_failures_within_a_minute():
    guesses = Guesses(3)
    for second in range(3):
        assert guesses.may_try("1.2.3.4", "AAAAAA", second * SECOND_NS)
        guesses.fail("1.2.3.4", second * SECOND_NS)
    assert not guesses.may_try("1.2.3.4", "AAAAAA", 3 * SECOND_NS)
    assert guesses.may_try("5.6.7.8", "AAAAAA", 3 * SECOND_NS)
    assert guesses.may_try("1.2.3.4", "AAAAAA", 60 * SECOND_NS)


def test_a_class_behind_one_address_gets_in_while_somebody_there_guesses():
    guesses = Guesses(2)
    guesses.succeed("1.2.3.4", "K7QX2M")
    for _ in range(50):
        guesses.fail("1.2.3.4", 0)
    assert guesses.may_try("1.2.3.4", "K7QX2M", 0)
    assert not guesses.may_try("1.2.3.4", "K7QX2N", 0)


def test_what_is_remembered_of_addresses_is_bounded():
    guesses = Guesses(2)
    for number in range(10_050):
        guesses.fail(f"address {number}", 0)
    for number in range(100):
        guesses.succeed("address 10049", f"CODE{number:02}")
    assert len(guesses._addresses) == 10_000
    assert len(guesses._addresses["address 10049"].codes) == 64
