import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.events import Delta
from app.generation import TokenInfo
from app.reply.pace import MAX_SENTENCE_CHARS, MAX_WORD_CHARS, PACES, Pace, merge, pacer

LATIN = "abcdefghijklmnopqrstuvwxyzäöüßéñçABC0123456789'-_"
PROSE = LATIN + "    \n.,!?…"
ANY = st.one_of(st.characters(codec="utf-8"), st.sampled_from("Aa .!?\n\"'。！？।한국漢字かなไทย"))

pieces = st.lists(st.text(ANY, max_size=9), max_size=40)
prose = st.lists(st.text(PROSE, min_size=1, max_size=5), min_size=1, max_size=60)


def deltas_of(texts: list[str]) -> list[Delta]:
    return [
        Delta("r", seq, text, 1 + seq % 3, float(seq), [TokenInfo(seq, b"", 0.0)])
        for seq, text in enumerate(texts, start=1)
    ]


def paced(pace: Pace, deltas: list[Delta]) -> list[Delta]:
    p = pacer(pace)
    return [out for delta in deltas for out in p.push(delta)] + p.flush()


def texts(pace: Pace, *given_texts: str) -> list[str]:
    return [d.text for d in paced(pace, deltas_of(list(given_texts)))]


@given(st.sampled_from(PACES), pieces)
def test_every_pace_gives_the_same_text_tokens_and_infos(pace, given_texts):
    deltas = deltas_of(given_texts)
    out = paced(pace, deltas)
    assert "".join(d.text for d in out) == "".join(given_texts)
    assert sum(d.tokens for d in out) == sum(d.tokens for d in deltas)
    assert [i for d in out for i in d.info] == [i for d in deltas for i in d.info]


@given(st.sampled_from(PACES), pieces)
def test_merged_deltas_are_runs_of_whole_ones(pace, given_texts):
    deltas = deltas_of(given_texts)
    place = 0
    for out in paced(pace, deltas):
        run = deltas[place : out.seq]
        assert run, "seq increases"
        assert out.text == "".join(d.text for d in run)
        assert out.t == run[-1].t
        place = out.seq
    assert place == len(deltas)


@given(st.sampled_from([("word", MAX_WORD_CHARS), ("sentence", MAX_SENTENCE_CHARS)]), pieces)
def test_what_is_held_back_is_bounded(kind, given_texts):
    pace, limit = kind
    p = pacer(pace)
    held = 0
    for delta in deltas_of(given_texts * 30):
        released = p.push(delta)
        held += len(delta.text) - sum(len(d.text) for d in released)
        assert 0 <= held < limit


@given(st.sampled_from(PACES), pieces)
def test_one_push_gives_two_deltas_at_most(pace, given_texts):
    p = pacer(pace)
    assert all(len(p.push(delta)) <= 2 for delta in deltas_of(given_texts))
    assert len(p.flush()) <= 1
    assert p.flush() == []


@given(pieces)
def test_token_pace_holds_nothing(given_texts):
    p = pacer("token")
    for delta in deltas_of(given_texts):
        assert p.push(delta) == [delta]


@given(pieces)
def test_whole_pace_gives_one_delta_at_the_end(given_texts):
    assert len(paced("whole", deltas_of(given_texts))) == (1 if given_texts else 0)


@given(prose)
def test_word_pace_never_cuts_inside_a_word_of_latin_text(given_texts):
    whole = "".join(given_texts)
    place = 0
    for text in texts("word", *given_texts)[:-1]:
        place += len(text)
        if len(text) < MAX_WORD_CHARS:
            assert whole[place - 1].isspace() or whole[place].isspace()


@given(prose)
def test_sentence_pace_cuts_only_where_a_sentence_may_end(given_texts):
    whole = "".join(given_texts)
    place = 0
    for text in texts("sentence", *given_texts)[:-1]:
        place += len(text)
        if len(text) < MAX_SENTENCE_CHARS:
            said = whole[:place].rstrip(" ")
            assert said.rstrip("'_").endswith((".", "!", "?", "…", "\n"))


def test_a_word_is_given_when_the_next_one_begins():
    assert texts("word", "Hel", "lo", ",", " wor", "ld", "!") == ["Hello,", " world!"]


def test_a_word_without_end_is_let_go():
    assert texts("word", "-" * 60, "-" * 10, "-" * 3) == ["-" * 70, "---"]


@pytest.mark.parametrize("script", ["漢字", "かな", "カナ", "ไทย", "ລາວ", "មន", "မြန"])
def test_scripts_without_spaces_are_shown_character_by_character(script):
    assert texts("word", *script) == list(script)


def test_devanagari_and_hangul_words_end_at_spaces():
    assert texts("word", "नम", "स्ते", " दु", "निया") == ["नमस्ते", " दुनिया"]
    assert texts("word", "안녕", "하세요", " 세", "계") == ["안녕하세요", " 세계"]


def test_a_sentence_ends_at_its_mark_and_the_space_after_it():
    assert texts("sentence", "Pi is 3", ".", "14", ".", " Yes", '!"', " So.") == [
        "Pi is 3.14.",
        ' Yes!"',
        " So.",
    ]


def test_sentences_end_at_line_breaks_dandas_and_full_width_stops():
    assert texts("sentence", "One", "\n", "two") == ["One\n", "two"]
    assert texts("sentence", "एक", "।", " दो") == ["एक।", " दो"]
    assert texts("sentence", "はい", "。", "次") == ["はい。", "次"]


def test_merging_one_delta_gives_that_one():
    (delta,) = deltas_of(["a"])
    assert merge([delta]) is delta
