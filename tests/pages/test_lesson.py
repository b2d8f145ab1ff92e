"""The lesson's page: its code is real code, its languages are found, and every part has its counterpart."""

import re
from html.parser import HTMLParser
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pages.lesson import choose_language
from app.pages.snippet import snippet
from tests.server import Running

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "templates" / "lesson").glob("*.html"))
ENGLISH = (ROOT / "templates" / "lesson" / "en.html").read_text()


def skeleton(text: str) -> list[str]:
    """What must be the same in every language: paragraphs, depths, code, demos, exercises, in order."""
    return re.findall(r'id="[\w-]+"|data-depth="\w+"|\{\{[^}]+\}\}', text)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_language_has_the_same_parts_in_the_same_order(path: Path):
    assert skeleton(path.read_text()) == skeleton(ENGLISH)


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_each_paragraph_has_three_depths(path: Path):
    for paragraph in path.read_text().split('<div class="paragraph"')[1:]:
        assert re.findall(r'data-depth="(\w+)"', paragraph) == ["plain", "code", "research"]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_tag_that_is_opened_is_closed(path: Path):
    open_tags: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Tags().feed(path.read_text())
    assert open_tags == []


async def test_the_page_shows_the_code_that_is_tested(serve):
    server: Running = await serve()
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"{server.url}/learn")
    assert answer.status_code == 200
    assert "async def streamed(request: Request)" in answer.text
    assert "# [streamed]" not in answer.text
    assert 'data-language="en"' in answer.text


def test_wishes_for_a_language_are_heard_in_order():
    both = ["en", "hi"]
    assert choose_language(both, "", "", "hi-IN,hi;q=0.9,en;q=0.8") == "hi"
    assert choose_language(both, "en", "hi", "hi-IN") == "en"
    assert choose_language(both, "", "", "de-DE,hi;q=0.1") == "en"
    assert choose_language(["en"], "hi", "../../etc/passwd", "") == "en"


@given(st.text(max_size=40))
def test_no_wish_leads_out_of_the_folder(wish: str):
    assert choose_language(["en", "hi"], wish) in ("en", "hi")


def test_a_snippet_is_what_stands_between_its_marks():
    source = "a\n# [x]\n    def f():\n        pass\n# [/x]\nb\n"
    assert snippet(source, "x") == "def f():\n    pass"
    with pytest.raises(LookupError, match="no piece called 'y'"):
        snippet(source, "y")


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "name",
    ["Orca", "PagedAttention", "Sarathi-Serve", "DistServe", "Andes", "Etalon", "Brysbaert", "Nielsen"],
)
def test_a_work_that_the_lesson_leans_on_is_named_there_and_in_its_references(path: Path, name: str):
    assert name in path.read_text()
    assert name in (ROOT / "templates" / "_references.html").read_text()
