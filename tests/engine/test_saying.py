from hypothesis import given
from hypothesis import strategies as st

from app.engine.saying import Saying, count_words
from app.generation import Ended, Piece
from app.prompt import Message, Prompt, Sampling


def saying(script=((b"a", 10.0), (b"b", 20.0)), granted=None, **wishes) -> Saying:
    return Saying(Prompt("x", text="one two three", **wishes), lambda output: None, script, 64, granted)


def test_a_prompt_has_a_token_a_word_and_at_least_one():
    assert count_words(Prompt("x", text="one two three")) == 3
    assert count_words(Prompt("x", messages=(Message("system", "be kind"), Message("user", "hello")))) == 3
    assert count_words(Prompt("x", text="")) == 1


def test_a_token_takes_what_the_script_says_and_longer_in_slow_motion():
    plain, slow = saying(), saying(tokens_per_second=50.0)
    delays_s = []
    for now_ns in (1, 2):
        delays_s.append((plain.delay_s(), slow.delay_s()))
        plain.make(now_ns)
        slow.make(now_ns)
    assert delays_s == [(0.01, 0.02), (0.02, 0.02)]


def test_stamps_are_those_that_were_passed_in_and_pauses_add_up():
    one = saying(granted=1)
    assert one.num_held == 0
    one.begin(10)
    one.make(20)
    assert one.num_held == 4 and not one.may_go_on
    assert (one.pause(21).made, one.paused) == (1, True)
    one.granted = 9
    assert one.may_go_on
    one.resume(31)
    one.pause(40)
    piece, ended = one.end("cancelled", 45)
    assert isinstance(piece, Piece) and (piece.text, piece.at_ns) == ("a", 20)
    assert isinstance(ended, Ended) and ended.finish_reason == "cancelled"
    assert (ended.begun_ns, ended.first_token_ns, ended.last_token_ns) == (10, 20, 20)
    assert (ended.paused_ns, ended.at_ns) == (15, 45)


def test_an_end_before_the_first_token_has_no_text_and_no_stamps():
    (ended,) = saying().end("cancelled", 5)
    assert isinstance(ended, Ended)
    assert (ended.completion_tokens, ended.begun_ns, ended.last_token_ns) == (0, None, None)


def test_a_script_is_certain_of_itself():
    one = saying(sampling=Sampling(logprobs=1))
    one.make(1)
    piece = one.piece()
    assert piece is not None and [(i.token_id, i.logprob, len(i.top)) for i in piece.info] == [(0, 0.0, 1)]


@given(st.text(min_size=1, max_size=12), st.integers(1, 5))
def test_however_characters_are_cut_the_whole_script_is_said(text, size):
    data = text.encode()
    one = saying([(data[at : at + size], 0.0) for at in range(0, len(data), size)], max_tokens=200)
    said = []
    while one.finish is None:
        one.make(1)
        if one.finish is None:
            said.append(one.piece())
    said += [output for output in one.end("stop", 2) if isinstance(output, Piece)]
    assert "".join(piece.text for piece in said if piece is not None) == text
