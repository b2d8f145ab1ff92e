"""The README tells the truth about what can be set and what is there."""

import re
from dataclasses import fields
from pathlib import Path

from app.settings import Settings

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def settings_table() -> str:
    """The README's table of settings, made from the settings themselves."""
    rows = ["| setting | default | reason |", "|---|---|---|"]
    for f in fields(Settings):
        default = f.default if f.default != "" else "(empty)"
        rows.append(f"| `{f.name}` | {default} | {f.metadata['reason'].replace('|', '/')} |")
    return "\n".join(rows)


def test_the_readme_lists_every_setting_with_its_default_and_reason() -> None:
    assert settings_table() in README, "run: python -m tests.test_docs"


def test_every_file_that_the_readme_names_exists() -> None:
    names = set(re.findall(r"\]\(((?!http)[^)]+)\)", README)) | set(
        re.findall(r"`((?:tests|docs|bench)/[\w./-]+)`", README)
    )
    missing = [name for name in names if not (ROOT / name.split("#")[0]).exists()]
    assert not missing


if __name__ == "__main__":
    start = README.index("| setting |")
    end = README.index("\n\n", start)
    (ROOT / "README.md").write_text(README[:start] + settings_table() + README[end:])
