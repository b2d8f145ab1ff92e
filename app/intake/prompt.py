"""Our own dialect -> Prompt: the fields of a ``start`` frame that say what to generate.

Names and limits are those of design, section 5.2. How the reply is read (pace, acks, …) and who
asked are the transports' business; so is refusing fields that nobody knows. A prompt that is too
long for the model is refused by the engine, which counts its tokens. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.errors import BadRequest
from app.intake.fields import Fields
from app.intake.sampling import MAX_SEED, read_sampling
from app.prompt import Message, Prompt, Role, Sampling
from app.settings import Settings

_ROLES: tuple[Role, ...] = ("system", "user", "assistant")
MAX_LOGPROBS = 20
#: All that read_prompt reads: who names a recording instead may give none of them.
PROMPT_FIELDS = (
    "messages", "max_tokens", "min_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "stop",
    "ignore_eos", "continue_last", "repetition_penalty", "presence_penalty", "frequency_penalty",
    "logit_bias", "logprobs", "tokens_per_second",
)  # fmt: skip


def read_prompt(fields: Fields, settings: Settings, id: str) -> Prompt:
    """A conversation to be gone on with. Raises BadRequest naming the field and its limits."""
    messages = _read_messages(fields, settings)
    continue_last = fields.boolean("continue_last", False)
    if continue_last and messages[-1].role != "assistant":
        raise fields.wrong("continue_last", "needs a last message of the assistant")
    if not continue_last and not messages[-1].content.strip():
        raise fields.wrong(f"messages[{len(messages) - 1}].content", "is empty: there is nothing to answer")
    return _read_rest(fields, settings, id, messages, continue_last)


def read_question(fields: Fields, settings: Settings, id: str) -> Prompt:
    """The lesson's endpoints: one ``prompt``, said by the user. Raises as read_prompt."""
    text = fields.string("prompt", settings.max_prompt_chars)
    if not text.strip():
        raise fields.wrong("prompt", "is empty: there is nothing to answer")
    return Prompt(
        id=id,
        messages=(Message("user", text),),
        sampling=Sampling(
            temperature=fields.number("temperature", 0, 2, settings.default_temperature),
            top_p=settings.default_top_p,
            seed=fields.integer("seed", 0, MAX_SEED, None),
        ),
        max_tokens=_read_max_tokens(fields, settings),
        ignore_eos=fields.boolean("ignore_eos", False),
    )


def check_size(messages: Sequence[Message], settings: Settings) -> None:
    """Refuse what would cost too much even to count. Raises BadRequest with both numbers."""
    chars = sum(len(message.content) for message in messages)
    if chars > settings.max_prompt_chars:
        raise BadRequest(
            f"messages have {chars} characters together; the limit is {settings.max_prompt_chars}",
            param="messages",
        )


# Private


def _read_messages(fields: Fields, settings: Settings) -> tuple[Message, ...]:
    messages = tuple(_read_message(entry) for entry in fields.objects("messages", settings.max_messages))
    check_size(messages, settings)
    return messages


def _read_message(fields: Fields) -> Message:
    fields.require("role", "content")
    message = Message(fields.choice("role", _ROLES, "user"), fields.string("content"))
    fields.refuse_others()
    return message


def _read_rest(
    fields: Fields, settings: Settings, id: str, messages: tuple[Message, ...], continue_last: bool
) -> Prompt:
    max_tokens = _read_max_tokens(fields, settings)
    return Prompt(
        id=id,
        messages=messages,
        continue_last=continue_last,
        sampling=read_sampling(
            fields,
            temperature=settings.default_temperature,
            top_p=settings.default_top_p,
            logprobs=fields.integer("logprobs", 0, MAX_LOGPROBS, None),
        ),
        max_tokens=max_tokens,
        min_tokens=fields.integer("min_tokens", 0, max_tokens, 0),
        stop=fields.strings("stop", settings.max_stop_strings, settings.max_stop_chars),
        ignore_eos=fields.boolean("ignore_eos", False),
        tokens_per_second=fields.number("tokens_per_second", 0.1, 1000, None),
    )


def _read_max_tokens(fields: Fields, settings: Settings) -> int:
    longest = settings.max_output_tokens
    return fields.integer("max_tokens", 1, longest, min(settings.default_output_tokens, longest))
