"""Tokens and their probabilities in OpenAI's two spellings."""

from hypothesis import given
from hypothesis import strategies as st

from app.generation import TokenInfo
from app.transports.openai_logprobs import LEAST_LOGPROB, TextLogprobs, chat_logprobs


def test_chat_lists_each_token_with_its_exact_bytes_and_alternatives() -> None:
    info = [TokenInfo(7, b"Hi", -0.5, [(7, b"Hi", -0.5), (8, b"Ho", -1.5)])]
    assert chat_logprobs(info) == {
        "content": [
            {
                "token": "Hi",
                "logprob": -0.5,
                "bytes": [72, 105],
                "top_logprobs": [
                    {"token": "Hi", "logprob": -0.5, "bytes": [72, 105]},
                    {"token": "Ho", "logprob": -1.5, "bytes": [72, 111]},
                ],
            }
        ],
        "refusal": None,
    }


def test_a_token_that_is_half_a_character_keeps_its_bytes() -> None:
    entry = chat_logprobs([TokenInfo(1, b"\xf0\x9f", -1.0)])["content"][0]
    assert entry["token"] == "\ufffd" and entry["bytes"] == [0xF0, 0x9F]
    assert TextLogprobs().take([TokenInfo(1, b"\xf0\x9f", -1.0)])["tokens"] == ["bytes:\\xf0\\x9f"]


def test_an_impossible_token_has_a_number_that_json_can_carry() -> None:
    for logprob in (float("-inf"), float("nan")):
        entry = chat_logprobs([TokenInfo(1, b"a", logprob)])["content"][0]
        assert entry["logprob"] == LEAST_LOGPROB


def test_completions_list_columns_and_always_the_chosen_token() -> None:
    columns = TextLogprobs().take([TokenInfo(1, b"a", -3.0, [(2, b"b", -0.1)]), TokenInfo(2, b"b", -0.2)])
    assert columns == {
        "tokens": ["a", "b"],
        "token_logprobs": [-3.0, -0.2],
        "top_logprobs": [{"b": -0.1, "a": -3.0}, {"b": -0.2}],
        "text_offset": [0, 1],
    }


@given(st.text(min_size=1, max_size=20), st.data())
def test_offsets_are_places_in_the_text_however_tokens_cut_it(text: str, data: st.DataObject) -> None:
    raw = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(raw)), max_size=8)) | {len(raw)})
    tokens = [raw[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]
    columns = TextLogprobs()
    split = data.draw(st.integers(0, len(tokens)))
    offsets = []
    for part in (tokens[:split], tokens[split:]):
        offsets += columns.take([TokenInfo(0, token, -1.0) for token in part])["text_offset"]
    start = 0
    for token, offset in zip(tokens, offsets, strict=True):
        # The character that holds the token's first byte.
        assert offset == len(raw[: start + 1].decode("utf-8", "ignore")) - (
            raw[: start + 1].decode("utf-8", "ignore").encode() == raw[: start + 1]
        )
        start += len(token)
