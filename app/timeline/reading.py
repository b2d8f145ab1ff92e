"""Reading: what counts as a word, and how fast words are read.

238 words a minute is the mean of silent reading in English, non-fiction, of adults (Brysbaert, J.
Mem. Lang. 109:104047, 2019); most people are between 175 and 300. It refuses to know tokens: people
read words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

WORDS_PER_MINUTE = 238.0

#: Signs of scripts that write no spaces: Thai, kana, Han. Two of them count as a word.
_SIGN = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e5b"
    "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff6f\uff71-\uff9d"
    "\u2e80-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufad9"
    "\U00020000-\U000323af]"
)


def words_in(text: str) -> int:
    """Words of a text: runs between spaces that hold a letter or digit; two signs of _SIGN are one."""
    return sum(words_brought([text]))


def words_brought(texts: Iterable[str]) -> list[int]:
    """How many words each piece of a text begins: "Ro", "me is", " old" bring 1, 1 and 1."""
    brought = []
    signs = closed = before = 0
    run = ""
    for text in texts:
        signs += len(_SIGN.findall(text))
        # Only the last run can still grow; the others are counted for good.
        *ended, run = re.split(r"\s", run + _SIGN.sub(" ", text))
        closed += sum(map(_is_word, ended))
        words = closed + _is_word(run) + -(-signs // 2)
        brought.append(words - before)
        before = words
    return brought


# Private


def _is_word(run: str) -> bool:
    return any(char.isalnum() for char in run)
