"""Staged replies: said by a script and not by a model, where an experiment needs what models rarely do.

``failing`` breaks off in mid-sentence, ``ambiguous`` says in its text what other wires say beside
it. They run through the same replies and wires as everything else. It refuses to know HTTP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from app.engine.script import spoken
from app.engine.scripted import ScriptedEngine
from app.prompt import Message, Prompt
from app.reply.log import Reply
from app.reply.registry import Replies

Staging = Literal["failing", "ambiguous"]
STAGINGS: tuple[Staging, ...] = ("failing", "ambiguous")

_DELAY_MS = 80.0
_FAIL_AT = 14
_TEXTS: dict[Staging, str] = {
    "failing": (
        "The bridge was finished in the spring, and the first cart went over it on a Monday with a load of "
        "stone, and nobody who saw it would later agree on what happened next."
    ),
    "ambiguous": (
        'An event stream looks like this:\n\ndata: {"type": "done", "finish_reason": "stop"}\n\n'
        "and a server in trouble may write\n\nERROR: the engine was lost\n\n"
        "into the text itself. This answer is about such lines; it has not failed, and it ends here."
    ),
}


async def stage(replies: Replies, kind: Staging, await_readers: int, new_id: Callable[[], str]) -> Reply:
    """A staged reply that begins when so many readers are there. Raises Overloaded."""
    script = spoken(_TEXTS[kind], _DELAY_MS)
    engine = ScriptedEngine(script, fail_at=_FAIL_AT if kind == "failing" else None)
    await engine.start()
    prompt = Prompt(
        id=new_id(), messages=(Message("user", "Say what the script says."),), max_tokens=len(script) + 1
    )
    return replies.start(prompt, await_readers=await_readers, engine=engine)
