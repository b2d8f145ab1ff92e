"""Which beginnings are known, and which is forgotten first."""

from hypothesis import given
from hypothesis import strategies as st

from app.engine.prefix_cache import PrefixCache, common_prefix

TOKENS = st.lists(st.integers(0, 2), max_size=12)


@given(TOKENS, TOKENS, st.integers(0, 12))
def test_the_common_prefix_is_counted_token_by_token(a: list[int], b: list[int], at_most: int):
    same = 0
    while same < min(len(a), len(b), at_most) and a[same] == b[same]:
        same += 1
    assert common_prefix(a, b, at_most) == same


def test_the_least_recently_used_goes_first():
    cache = PrefixCache()
    for slot in range(3):
        cache.insert(slot, [slot])
    cache.touch(0)
    assert cache.oldest() == 1
    cache.remove(1)
    assert [slot for slot, _ in cache.items()] == [2, 0]
    assert PrefixCache().oldest() is None


def test_an_entry_that_another_begins_with_is_not_kept():
    cache = PrefixCache()
    assert cache.insert(0, [1, 2]) == []
    assert cache.insert(1, [1, 2, 3]) == [0]
    assert cache.insert(2, [1, 2]) == [2]
    assert cache.insert(3, [1, 2, 4]) == []
    assert [slot for slot, _ in cache.items()] == [1, 3]
