"""How tokens are drawn, from a request's fields: the same names and limits in every dialect. Pure.

What dialects differ in, the defaults and a ceiling, they say themselves. Beyond OpenAI's fields
some of vLLM's are understood (top_k, min_p, repetition_penalty). It refuses to know who asks.
"""

from __future__ import annotations

from app.intake.fields import Fields
from app.prompt import Sampling

#: Seeds of further choices count on from the asked one, and stay below what 64 bits hold.
MAX_SEED = 2**63 - 1 - 2**32
_MAX_TOP_K = 1_000_000
_MAX_TOKEN_ID = 2**31 - 1
#: As many as OpenAI allows; each of them is a token id and its bias.
_MAX_BIASES = 300


def read_sampling(
    fields: Fields,
    *,
    temperature: float = 1.0,
    top_p: float = 1.0,
    max_temperature: float = 2.0,
    logprobs: int | None = None,
) -> Sampling:
    """All of it; ``temperature`` and ``top_p`` are the dialect's defaults. Raises BadRequest."""
    return Sampling(
        temperature=fields.number("temperature", 0.0, max_temperature, temperature),
        top_p=fields.number("top_p", 0.0, 1.0, top_p),
        # vLLM says -1 for "all of them", we say 0.
        top_k=max(0, fields.integer("top_k", -1, _MAX_TOP_K, 0)),
        min_p=fields.number("min_p", 0.0, 1.0, 0.0),
        seed=fields.integer("seed", 0, MAX_SEED, None),
        repetition_penalty=fields.number("repetition_penalty", 0.1, 10.0, 1.0),
        presence_penalty=fields.number("presence_penalty", -2.0, 2.0, 0.0),
        frequency_penalty=fields.number("frequency_penalty", -2.0, 2.0, 0.0),
        logit_bias=_read_logit_bias(fields),
        logprobs=logprobs,
    )


# Private


def _read_logit_bias(fields: Fields) -> dict[int, float]:
    value = fields.raw("logit_bias")
    if value is None:
        return {}
    biases = Fields(value, fields.path("logit_bias"))
    if len(value) > _MAX_BIASES:
        raise fields.wrong("logit_bias", f"has {len(value)} tokens; the limit is {_MAX_BIASES}")
    for token in value:
        if not (token.isascii() and token.isdecimal() and len(token) <= 10 and int(token) <= _MAX_TOKEN_ID):
            raise fields.wrong("logit_bias", f"must have token ids as names, not {ascii(token)[:40]}")
    return {int(token): biases.number(token, -100.0, 100.0, 0.0) for token in value}
