"""Text to token ids and back, from a model folder's tokenizer.json and chat template.

Uses ``tokenizers`` and jinja2 directly: transformers' own wrapper costs a second of imports. The
template runs in jinja's sandbox, because it comes with the weights. ``token_bytes`` gives each
token's exact bytes, so that whoever joins them sees half characters as they are. It refuses to
know sampling and stop strings.
"""

from __future__ import annotations

import datetime
import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers

from app.engine.lookalikes import Lookalikes
from app.engine.spelling import token_bytes
from app.errors import BadRequest, StartupError
from app.prompt import Message

#: Tokens that end a turn in the common chat formats, wherever the model's config lists them or not.
_TURN_ENDS = ("<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>", "<|end_of_turn|>")


class Tokenizer:
    """One model's tokenizer and chat template."""

    def __init__(
        self, backend: Any, config: dict[str, Any], template: str | None, eos_ids: frozenset[int]
    ) -> None:
        self._backend = backend
        self._specials = {name: _content(config.get(name)) for name in ("bos_token", "eos_token")}
        self._template = _compile(template) if template else None
        self._bytes = token_bytes(backend)
        self.eos_ids = eos_ids
        self._lookalikes = Lookalikes(_control_tokens(backend, eos_ids))
        # What the tokenizer itself would put before a raw text.
        bos = self._specials["bos_token"]
        self._bos_id = backend.token_to_id(bos) if bos and config.get("add_bos_token") else None
        self.next_turn = self._between_turns() if self._template is not None else ()

    def encode_chat(self, messages: Sequence[Message], continue_last: bool) -> list[int]:
        """Token ids of the conversation, ready for the assistant's turn.

        With ``continue_last`` the ids end inside the last message, after its content. A model
        without a template gets plain ``role: content`` lines. Raises BadRequest when the
        template refuses the conversation (two user turns in a row, for example).

        Control tokens come from the template alone: spelt out in a message they are text.
        """
        messages, mark = self._lookalikes.mark(messages)
        has_template = self._template is not None
        text = self._render(messages, continue_last) if has_template else _plain(messages, continue_last)
        first, *others = text.split(mark) if mark is not None else [text]
        ids = self._encode(first) if has_template else self.encode_text(first)
        return ids + [id for part in others for id in self._encode(part)]

    def encode_text(self, text: str) -> list[int]:
        """Token ids of a raw text, with the begin token where the model wants one.

        Whoever sends raw text writes the turns too, if there are any: control tokens count as such.
        """
        ids = list(self._backend.encode(text, add_special_tokens=True).ids)
        if self._bos_id is not None and ids[:1] != [self._bos_id]:
            ids.insert(0, self._bos_id)
        return ids

    def token_bytes(self, id: int) -> bytes:
        """The exact bytes of a token; empty for control tokens and ids without a token."""
        return self._bytes[id] if 0 <= id < len(self._bytes) else b""

    def _between_turns(self) -> tuple[int, ...]:
        """What the template writes between a reply and a question; empty where it changes what was said."""
        reply, question = "2two2", "3three3"
        talk = [Message("user", "1one1"), Message("assistant", reply), Message("user", question)]
        try:
            _, found, rest = self._render(talk, continue_last=False).partition(reply)
        except BadRequest:
            return ()
        between, found_next, _ = rest.partition(question)
        return tuple(self._encode(between)) if found and found_next else ()

    def _encode(self, text: str) -> list[int]:
        return list(self._backend.encode(text, add_special_tokens=False).ids)

    def _render(self, messages: Sequence[Message], continue_last: bool) -> str:
        assert self._template is not None
        from jinja2 import TemplateError

        try:
            text: str = self._template.render(
                messages=[{"role": m.role, "content": m.content} for m in messages],
                add_generation_prompt=not continue_last,
                **{name: value for name, value in self._specials.items() if value is not None},
            )
        except (TemplateError, TypeError) as error:
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


def load(folder: Path) -> Tokenizer:
    """The tokenizer of a model folder. Raises StartupError when it has none that is fast."""
    file = folder / "tokenizer.json"
    backend = tokenizers.Tokenizer.from_file(str(file)) if file.is_file() else _through_transformers(folder)
    backend.no_truncation()
    backend.no_padding()
    config = _json(folder / "tokenizer_config.json")
    return Tokenizer(backend, config, _template_of(folder, config), _eos_ids(folder, backend, config))


# Private


def _json(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise StartupError(f"{file} is not JSON: {error}") from None
    return value if isinstance(value, dict) else {}


def _through_transformers(folder: Path) -> Any:
    """Models without tokenizer.json: transformers knows how to make one of their vocabulary files."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(str(folder), trust_remote_code=False).backend_tokenizer
    except (OSError, ValueError, AttributeError, ImportError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise StartupError(f"model folder {folder} has no usable tokenizer: {first}") from None


def _content(token: Any) -> str | None:
    """A special token is a string or {"content": string}."""
    return token.get("content") if isinstance(token, dict) else token


def _template_of(folder: Path, config: dict[str, Any]) -> str | None:
    file = folder / "chat_template.jinja"
    if file.is_file():
        return file.read_text(encoding="utf-8")
    template = _json(folder / "chat_template.json").get("chat_template", config.get("chat_template"))
    if isinstance(template, list):  # several by name
        template = {entry["name"]: entry["template"] for entry in template}.get("default")
    return template


def _eos_ids(folder: Path, backend: Any, config: dict[str, Any]) -> frozenset[int]:
    ids: set[int] = set()
    for name in ("generation_config.json", "config.json"):
        listed = _json(folder / name).get("eos_token_id")
        ids.update(listed if isinstance(listed, list) else [listed] if listed is not None else [])
    for token in (_content(config.get("eos_token")), *_TURN_ENDS):
        token_id = backend.token_to_id(token) if token else None
        if token_id is not None:
            ids.add(token_id)
    return frozenset(ids)


def _control_tokens(backend: Any, eos_ids: frozenset[int]) -> list[str]:
    added = backend.get_added_tokens_decoder()
    return [token.content for id, token in added.items() if token.special or id in eos_ids]


def _compile(template: str) -> Any:
    """The template, in the environment that chat templates are written for."""
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def refuse(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = functools.partial(json.dumps, ensure_ascii=False)
    environment.globals["raise_exception"] = refuse
    environment.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    try:
        return environment.from_string(template)
    except jinja2.TemplateSyntaxError as error:
        raise StartupError(f"the model's chat template is not valid jinja: {error.message}") from None


def _plain(messages: Sequence[Message], continue_last: bool) -> str:
    lines = [f"{m.role}: {m.content}" for m in messages]
    return "\n".join(lines if continue_last else [*lines, "assistant:"])
