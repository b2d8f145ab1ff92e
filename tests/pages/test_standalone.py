"""The standalone page: its modules, its policy, and how it is handed out, on a real socket."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.pages.routes import ROOT
from app.pages.standalone import ENTRY, modules_of, rewrite, standalone_page
from app.replay.recording import MAX_BYTES

TEXT = "One </script><script>alert(1)</script> word."


def recording(**changes: Any) -> bytes:
    done = {
        "type": "done",
        "reply": "r",
        "seq": 1,
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2, "cached_tokens": 0},
        "timings": {
            "queue_ms": 1,
            "prefill_ms": 1,
            "first_token_ms": 2,
            "decode_ms": 0,
            "paused_ms": 0,
            "total_ms": 3,
        },
        "t": 3,
    }
    delta = {"type": "delta", "reply": "r", "seq": 1, "text": TEXT, "tokens": 1, "t": 2}
    whole = {
        "format": "firstword-recording",
        "version": 1,
        "id": "x",
        "title": "A test",
        "made_at": "2026-03-01T10:00:00Z",
        "made_by": "firstword 0",
        "prompt": {"messages": [{"role": "user", "content": "Say one word."}], "settings": {}},
        "model": {"name": "toy"},
        "hardware": {"cpu": "", "cores": 0, "memory_gb": 0, "system": ""},
        "reply": {
            "id": "r",
            "text": TEXT,
            "sha256": hashlib.sha256(TEXT.encode()).hexdigest(),
            "events": [delta, done],
        },
    }
    return json.dumps({**whole, **changes}).encode()


def test_imports_are_named_for_the_import_map_and_types_in_comments_are_let_be() -> None:
    text = (
        'import { a } from "./b.js";\nimport {\n  c,\n} from "../words.js";\n'
        '/** @typedef {import("./t.js").T} T */\n'
    )
    rewritten, imported = rewrite("race/a.js", text)
    assert imported == ["race/b.js", "words.js"]
    assert 'from "firstword/race/b.js"' in rewritten and 'from "firstword/words.js"' in rewritten
    assert 'import("./t.js")' in rewritten
    assert rewrite("words.js", "import(`./words/${code}/${name}.js`)") == (
        "import(`firstword/words/${code}/${name}.js`)",
        [],
    )


def test_every_module_that_the_page_needs_is_in_it_and_nothing_asks_for_a_path() -> None:
    modules = modules_of(ROOT / "static" / "js", (ENTRY,))
    assert {"race/moment.js", "components/race_stage.js", "words.js"} <= set(modules)
    assert not any(name.startswith("chat/session") for name in modules)
    for name, text in modules.items():
        assert not re.search(r'\bfrom "\.', text), name
        for named in re.findall(r'from "firstword/([^"]+)"', text):
            assert named in modules, f"{name} needs {named}"


def test_what_is_recorded_cannot_leave_its_element_and_the_policy_knows_every_script() -> None:
    page = standalone_page(ROOT, recording()).decode()
    data = re.search(r'<script type="application/json" id="recording">(.*?)</script>', page, re.S)
    assert data and json.loads(data[1])["reply"]["text"] == TEXT
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    scripts = re.findall(r'<script(?: type="(?:importmap|module)")?>(.*?)</script>', page, re.S)
    assert len(scripts) == 3
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy[1].replace("&#39;", "'").replace("&#x3D;", "=")
    assert "connect-src" not in policy[1] and "default-src" in policy[1]
    assert "http:" not in page.replace("http://www.w3.org", "") and "https:" not in page


async def test_the_page_is_handed_out_as_a_file_and_what_is_no_recording_is_refused(
    serve: Callable[..., Any],
) -> None:
    running = await serve()
    async with httpx.AsyncClient(base_url=running.url) as client:
        answer = await client.post("/api/recordings/html", content=recording())
        assert answer.status_code == 200
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["content-security-policy"].startswith("sandbox")
        for body, status, said in (
            (b"{", 400, "not JSON"),
            (recording(version=9), 400, "version"),
            (b" " * (MAX_BYTES + 1), 413, "limit"),
        ):
            refused = await client.post("/api/recordings/html", content=body)
            assert refused.status_code == status
            assert said in refused.json()["message"]
        assert (await client.get("/api/recordings/none/html")).status_code == 404


@pytest.mark.parametrize("theme", ["tokens", "race"])
def test_the_style_sheets_are_in_it(theme: str) -> None:
    page = standalone_page(ROOT, recording()).decode()
    assert Path(ROOT / "static" / "css" / f"{theme}.css").read_text() in page
