"""Is the upstream there, and which model does it serve? One look, told as a value or an error.

Asks ``/v1/models``, and ``/health`` of servers that have no such list. It refuses to know when to
look again and what a failed look means for the replies in flight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import msgspec

from app.errors import EngineLoading
from app.upstream.address import Address, Patience
from app.upstream.question import ask
from app.upstream.refusal import refusal


@dataclass(frozen=True, slots=True)
class Served:
    """What the upstream offers. ``owner`` is its ``owned_by``; ``context_tokens`` None: not told."""

    model: str
    owner: str = ""
    context_tokens: int | None = None


async def look(client: httpx.AsyncClient, address: Address, wanted: str, patience: Patience) -> Served:
    """Ask once. ``wanted`` is the model to use, empty: the first that is listed.

    Raises EngineLost when nothing can be reached, EngineLoading when something answers that cannot
    serve yet, UpstreamFailed when its answer is too large, TimeoutError when it is connected but says
    nothing (it may just be busy).
    """
    answer = await ask(client, address, patience, f"{address.api}/models")
    if answer.status in (404, 405, 501):
        answer = await ask(client, address, patience, f"{address.root}/health")
        if answer.good and wanted:
            return Served(wanted)
    if not answer.good:
        raise EngineLoading(address.scrub(refusal(answer.status, answer.body).message))
    served = _choose(_listed(answer.body), wanted)
    if served is None:
        raise EngineLoading(f"{address.shown} lists no model; name one with --upstream-model")
    return served


# Private


class _Meta(msgspec.Struct, frozen=True):
    n_ctx: int | None = None  # llama.cpp: the context that it was started with
    n_ctx_train: int | None = None  # llama.cpp: the model's own


class _Model(msgspec.Struct, frozen=True):
    id: str
    owned_by: str | None = None
    max_model_len: int | None = None  # vLLM, SGLang
    meta: _Meta | None = None


class _Models(msgspec.Struct, frozen=True):
    data: list[_Model] | None = None


def _listed(body: bytes) -> list[_Model]:
    try:
        return msgspec.json.decode(body, type=_Models).data or []
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return []


def _choose(models: list[_Model], wanted: str) -> Served | None:
    model = next((m for m in models if not wanted or m.id == wanted), None)
    if model is not None:
        return Served(model.id, model.owned_by or "", _context(model))
    if wanted:
        # Adapters and aliases are not always listed: let the server itself judge the name.
        return Served(wanted, models[0].owned_by or "" if models else "")
    return None


def _context(model: _Model) -> int | None:
    told: tuple[Any, ...] = (model.max_model_len,)
    if model.meta is not None:
        told += (model.meta.n_ctx, model.meta.n_ctx_train)
    return next((n for n in told if n), None)
