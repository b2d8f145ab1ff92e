"""The model's chat template: a conversation becomes one text, with the model's own words between turns.

A template is a jinja program that comes with the weights, so it runs in jinja's sandbox. It refuses to
know ids; who forges turns is the tokenizer's business.
"""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Mapping, Sequence

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.errors import BadRequest, StartupError
from app.prompt import Message


class ChatTemplate:
    """One model's; ``specials`` are its names for the begin and the end of a text."""

    def __init__(self, source: str, specials: Mapping[str, str]) -> None:
        try:
            self._template = _environment().from_string(source)
        except jinja2.TemplateSyntaxError as error:
            raise StartupError(f"the model's chat template is not valid jinja: {error.message}") from None
        self._specials = specials

    def render(self, messages: Sequence[Message], continue_last: bool) -> str:
        """The conversation, ready for the assistant's turn, or ended inside its last message.

        Raises BadRequest when the template refuses it (two user turns in a row, for example).
        """
        try:
            text = self._template.render(
                messages=[{"role": m.role, "content": m.content} for m in messages],
                add_generation_prompt=not continue_last,
                **self._specials,
            )
        except (jinja2.TemplateError, TypeError) as error:
            why = getattr(error, "message", None) or str(error)
            message = f"the model's chat template refuses these messages: {why}"
            raise BadRequest(message, param="messages") from None
        if not continue_last:
            return text
        last = messages[-1].content.strip()
        at = text.rfind(last)
        if at < 0:
            raise BadRequest("the model's chat template cannot go on with a message", param="messages")
        # A template may trim the content; what the caller wrote at its end is put back.
        return text[: at + len(last)] + messages[-1].content[len(messages[-1].content.rstrip()) :]

    def between_turns(self) -> str:
        """What it writes between a reply and the next question; empty where it changes what was said."""
        reply, question = "2two2", "3three3"
        talk = [Message("user", "1one1"), Message("assistant", reply), Message("user", question)]
        try:
            _, found, rest = self.render(talk, continue_last=False).partition(reply)
        except BadRequest:
            return ""
        between, found_next, _ = rest.partition(question)
        return between if found and found_next else ""


def plain(messages: Sequence[Message], continue_last: bool) -> str:
    """The conversation for a model without a template: lines of ``role: content``."""
    lines = [f"{m.role}: {m.content}" for m in messages]
    return "\n".join(lines if continue_last else [*lines, "assistant:"])


# Private


def _environment() -> ImmutableSandboxedEnvironment:
    """What chat templates are written for."""

    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = functools.partial(json.dumps, ensure_ascii=False)
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    return environment
