"""Chat templates as programs: what they write between turns. More of them in test_tokenizer."""

from __future__ import annotations

import pytest

from app.engine.chat_template import ChatTemplate


@pytest.mark.parametrize(
    ("source", "between"),
    [
        ("{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}", "</s><user>"),
        ("{% for m in messages %}{{ m.content | upper }}{% endfor %}", ""),
        ("{{ messages[-1].content }}", ""),
        ("{% if messages | length > 1 %}{{ raise_exception('one at a time') }}{% endif %}", ""),
    ],
    ids=["known", "says it otherwise", "forgets", "refuses"],
)
def test_what_stands_between_a_reply_and_the_next_question(source: str, between: str) -> None:
    assert ChatTemplate(source, {"eos_token": "</s>"}).between_turns() == between
