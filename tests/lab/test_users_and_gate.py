"""Virtual users are the same for the same seed; the gate keeps its three promises whatever happens."""

from hypothesis import given
from hypothesis import strategies as st

from app.lab.gate import BATCHINGS, Batching, Gate
from app.lab.users import Habits, question, users

HABITS = Habits(users=12, per_second=4.0, prompt_words=10, long_words=80, least=4, most=40, seed=3)


def test_the_same_seed_brings_the_same_users_and_another_one_others() -> None:
    assert users(HABITS) == users(HABITS)
    assert users(HABITS) != users(Habits(12, 4.0, 10, 80, 4, 40, 4))


def test_the_first_comes_at_once_and_the_others_behind_at_about_the_rate() -> None:
    many = users(Habits(2000, 4.0, 10, 10, 4, 40, 1))
    assert many[0].arrives_ms == 0
    assert all(a.arrives_ms <= b.arrives_ms for a, b in zip(many, many[1:], strict=False))
    assert abs(many[-1].arrives_ms / 1999 - 250) < 25
    assert all(4 <= user.answer_tokens <= 40 for user in many)


def test_one_in_the_middle_asks_the_long_question() -> None:
    assert [user.number for user in users(HABITS) if user.prompt_words == 80] == [7]
    assert {user.prompt_words for user in users(HABITS)} == {10, 80}


def test_prompts_differ_between_users_and_between_runs() -> None:
    first, second = users(HABITS)[:2]
    assert question(first, "a") == question(first, "a")
    assert len({question(first, "a"), question(second, "a"), question(first, "b")}) == 3
    assert len(question(first, "a").split(": ")[1].split()) == 10


def test_by_request_a_latecomer_waits_for_the_whole_group() -> None:
    gate = Gate("request", 2)
    for number in (1, 2, 3):
        gate.arrive(number)
    assert gate.admit() == [1, 2]
    gate.leave(1)
    assert gate.admit() == []
    gate.leave(2)
    assert gate.admit() == [3]


def test_by_iteration_everybody_goes_in_at_once() -> None:
    gate = Gate("iteration", 2)
    for number in (1, 2, 3):
        gate.arrive(number)
    assert gate.admit() == [1, 2, 3]


@given(st.sampled_from(BATCHINGS), st.integers(2, 5), st.lists(st.booleans(), max_size=60))
def test_everybody_gets_in_once_and_in_order(batching: Batching, group: int, moves: list[bool]) -> None:
    gate = Gate(batching, group)
    come = 0
    let_in: list[int] = []
    inside: list[int] = []
    for arrives in moves + [False] * 60:
        if arrives:
            come += 1
            gate.arrive(come)
        elif inside:
            gate.leave(inside.pop(0))
        going = gate.admit()
        let_in += going
        inside += going
        if batching != "iteration":
            assert len(inside) <= (1 if batching == "single" else group)
    assert let_in == list(range(1, come + 1))
