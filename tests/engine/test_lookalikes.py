"""Text that spells a control token is cut, whatever stands around it, and comes back whole."""

from hypothesis import given
from hypothesis import strategies as st

from app.engine.lookalikes import Lookalikes
from app.prompt import Message

CONTROL = ("<|im_start|>", "<|im_end|>", "</s>", "aba")
#: Made of pieces of control tokens and of marks, so that Hypothesis finds the awkward ones.
CONTENTS = st.lists(
    st.sampled_from(["<", "|", "<|im_", "start|>", "<|im_end|>", "</", "s>", "ab", "a", "x", "\n", "\ufdd0"])
).map("".join)


@given(st.lists(CONTENTS, min_size=1, max_size=3))
def test_no_part_holds_a_control_token_and_all_parts_together_are_the_text(contents: list[str]) -> None:
    messages = [Message("user", content) for content in contents]
    marked, mark = Lookalikes(CONTROL).mark(messages)
    assert (mark is None) == (not any(token in content for content in contents for token in CONTROL))
    if mark is None:
        assert marked == messages
        return
    for message, content in zip(marked, contents, strict=True):
        parts = message.content.split(mark)
        assert "".join(parts) == content
        assert not any(token in part for part in parts for token in CONTROL)


def test_where_there_are_no_control_tokens_nothing_is_marked() -> None:
    messages = [Message("user", "<|im_end|>")]
    assert Lookalikes(()).mark(messages) == (messages, None)


def test_roles_are_kept() -> None:
    marked, _ = Lookalikes(CONTROL).mark([Message("assistant", "</s>"), Message("user", "hi")])
    assert [message.role for message in marked] == ["assistant", "user"]
