"""Text to token ids and back, from a model folder's tokenizer.json and chat template.

Uses ``tokenizers`` directly: transformers' own wrapper costs a second of imports. ``token_bytes``
gives each token's exact bytes, so that whoever joins them sees half characters as they are. It
refuses to know jinja, sampling and stop strings.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tokenizers

from app.engine.chat_template import ChatTemplate, plain
from app.engine.lookalikes import Lookalikes
from app.engine.spelling import token_bytes
from app.errors import StartupError
from app.prompt import Message

#: Tokens that end a turn in the common chat formats, wherever the model's config lists them or not.
_TURN_ENDS = ("<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>", "<|end_of_turn|>")

#: So many pieces of conversations are remembered, none of them longer than so many characters (a
#: piece and its ids take ten bytes a character or so): the oldest are read again.
_REMEMBERED, _REMEMBERED_CHARS = 128, 8192


class Tokenizer:
    """One model's tokenizer and chat template."""

    def __init__(
        self, backend: Any, config: dict[str, Any], template: str | None, eos_ids: frozenset[int]
    ) -> None:
        self._backend = backend
        specials = {name: _content(config.get(name)) for name in ("bos_token", "eos_token")}
        given = {name: value for name, value in specials.items() if value is not None}
        self._template = ChatTemplate(template, given) if template else None
        self._bytes = token_bytes(backend)
        self.eos_ids = eos_ids
        self._lookalikes = Lookalikes(_control_tokens(backend, eos_ids))
        self._borders = _borders(backend)
        self._remembered = functools.lru_cache(_REMEMBERED)(self._encode_whole)
        # What the tokenizer itself would put before a raw text.
        bos = specials["bos_token"]
        self._bos_id = backend.token_to_id(bos) if bos and config.get("add_bos_token") else None
        #: What the template writes between a reply and the next question.
        self.next_turn = tuple(self._encode(self._template.between_turns())) if self._template else ()

    def encode_chat(self, messages: Sequence[Message], continue_last: bool) -> list[int]:
        """Token ids of the conversation, ready for the assistant's turn.

        With ``continue_last`` the ids end inside the last message, after its content. A model
        without a template gets plain ``role: content`` lines. Raises BadRequest when the
        template refuses the conversation (two user turns in a row, for example).

        Control tokens come from the template alone: spelt out in a message they are text.
        """
        messages, mark = self._lookalikes.mark(messages)
        write = self._template.render if self._template else plain
        text = write(messages, continue_last)
        first, *others = text.split(mark) if mark is not None else [text]
        ids = self._encode(first) if self._template else self.encode_text(first)
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

    def _encode(self, text: str) -> list[int]:
        """The ids of ``text``; a conversation's next turn costs only what is new in it."""
        ids: list[int] = []
        for piece in self._borders.split(text) if self._borders is not None else [text]:
            ids += (self._remembered if len(piece) <= _REMEMBERED_CHARS else self._encode_whole)(piece)
        return ids

    def _encode_whole(self, text: str) -> tuple[int, ...]:
        return tuple(self._backend.encode(text, add_special_tokens=False).ids)


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


def _borders(backend: Any) -> re.Pattern[str] | None:
    """Takes a text apart without a change to its ids: at the tokens that every text is cut at.

    A tokenizer takes those out first, the longest that fits, and then looks at what is between them
    piece by piece; but not those that eat the blanks beside them or are looked for in changed text.
    None where a piece's ids depend on where it stands (Metaspace's scheme "first").
    """
    added = backend.get_added_tokens_decoder().values()
    plain = [t.content for t in added if not (t.lstrip or t.rstrip or t.single_word or t.normalized)]
    if not plain:
        return None
    longest_first = sorted(plain, key=len, reverse=True)
    borders = re.compile(f"({'|'.join(map(re.escape, longest_first))})")
    probe = f"one two{plain[0]}three four{plain[0]}\n five"

    def ids(text: str) -> list[int]:
        return list(backend.encode(text, add_special_tokens=False).ids)

    in_pieces = [id for piece in borders.split(probe) for id in ids(piece)]
    return borders if in_pieces == ids(probe) else None


def _control_tokens(backend: Any, eos_ids: frozenset[int]) -> list[str]:
    added = backend.get_added_tokens_decoder()
    return [token.content for id, token in added.items() if token.special or id in eos_ids]
