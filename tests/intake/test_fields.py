import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.errors import BadRequest
from app.intake.fields import Fields, from_query, parse_json, typed

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 50_000, "nested too deeply"),
        (b"1" * 5000, "not JSON"),
        ("\ufeff{}", "not JSON"),
    ],
)
def test_what_is_no_json_is_refused(data, says):
    with pytest.raises(BadRequest, match=says):
        parse_json(data)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data):
    try:
        parse_json(data)
    except BadRequest as error:
        assert error.message


@pytest.mark.parametrize("value", [None, [], "x", 5, True])
def test_a_request_has_to_be_an_object(value):
    with pytest.raises(BadRequest, match="must be a JSON object"):
        Fields(value)


READERS: list[tuple[str, Any]] = [
    ("number", lambda f: f.number("x", 0, 2, 1.0)),
    ("integer", lambda f: f.integer("x", 0, 10, 1)),
    ("boolean", lambda f: f.boolean("x", False)),
    ("choice", lambda f: f.choice("x", ("a", "b"), "a")),
    ("strings", lambda f: f.strings("x", 2, 3)),
    ("text", lambda f: f.text("x", None, 3)),
    ("objects", lambda f: f.objects("x", 2)),
]


@pytest.mark.parametrize(("name", "read"), READERS)
@given(value=anything)
def test_any_value_is_read_or_refused_by_name(name, read, value):
    try:
        read(Fields({"x": value}, "place"))
    except BadRequest as error:
        assert error.param and error.param.startswith("place.x")
        assert error.message.startswith(error.param)
        error.message.encode()


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "1e999", "true", '"1"', "[1]", "2.01", "-0.1"]
)
def test_a_number_is_finite_and_in_range(value):
    fields = Fields(parse_json('{"temperature": ' + value + "}"))
    with pytest.raises(BadRequest, match="temperature must be a number from 0 to 2"):
        fields.number("temperature", 0, 2, 1.0)


@pytest.mark.parametrize("value", [0, 11, 1.5, 5.0, True, "5", 10**400, float("nan")])
def test_a_whole_number_is_whole_and_in_range(value):
    with pytest.raises(BadRequest, match="max_tokens must be a whole number from 1 to 10"):
        Fields({"max_tokens": value}).integer("max_tokens", 1, 10, 5)


def test_null_is_the_same_as_absent():
    fields = Fields({"x": None})
    assert not fields.has("x")
    assert fields.number("x", 0, 1, 0.5) == 0.5
    assert fields.strings("x", 1, 1) == ()
    with pytest.raises(BadRequest, match="x is missing"):
        fields.require("x")


def test_half_a_character_is_refused():
    fields = Fields(parse_json('{"x": "a\\ud83d"}'))
    with pytest.raises(BadRequest, match="lone surrogate"):
        fields.string("x")
    assert Fields(parse_json('{"x": "\\ud83d\\ude00"}')).string("x") == "😀"


def test_stop_strings_are_one_or_a_list():
    assert Fields({"stop": "a"}).strings("stop", 2, 3) == ("a",)
    assert Fields({"stop": ["a", "b"]}).strings("stop", 2, 3) == ("a", "b")
    for bad, says in [
        (["a"] * 3, "the limit is 2"),
        (["abcd"], "the limit is 3"),
        ([""], "empty"),
        ([1], "string"),
    ]:
        with pytest.raises(BadRequest, match=says):
            Fields({"stop": bad}).strings("stop", 2, 3)


def test_nested_objects_know_their_place():
    entry = Fields({"messages": [{}, {"role": 5}]}).objects("messages", 5)[1]
    with pytest.raises(BadRequest) as caught:
        entry.string("role")
    assert caught.value.param == "messages[1].role"


def test_a_field_nobody_reads_is_refused_by_name():
    fields = Fields({"prompt": "x", "temprature": 1})
    fields.string("prompt")
    with pytest.raises(BadRequest, match="'temprature' is not a field here; known are prompt") as caught:
        fields.refuse_others()
    assert caught.value.param == "temprature"


def test_a_misspelt_field_of_an_inner_object_is_named_with_its_place():
    (entry,) = Fields({"messages": [{"role": "user", "contend": "x"}]}).objects("messages", 1)
    entry.string("role")
    with pytest.raises(
        BadRequest, match=r"'messages\[0\].contend' is not a field here; known are role"
    ) as caught:
        entry.refuse_others()
    assert caught.value.param == "messages[0].contend"


@given(st.text(max_size=70))
def test_a_query_value_is_json_or_itself(text):
    value = typed(text)
    assert value == text or json.loads(text) == value or value != value


def test_a_query_field_given_twice_is_refused():
    with pytest.raises(BadRequest, match="given twice"):
        from_query([("a", "1"), ("a", "2")], {})
