"""How many tokens a prompt has, asked of the server whose tokenizer it is.

The OpenAI contract has no such question; vLLM, SGLang and llama.cpp offer ``/tokenize``, each its
own. Where nobody answers the count is refused: a guess would be a wrong number on a page that
teaches measuring.
"""

from __future__ import annotations

from typing import Any

import httpx
import msgspec

from app.errors import BadRequest, UpstreamFailed
from app.prompt import Prompt
from app.upstream.address import Address, Patience
from app.upstream.question import ask


async def count_tokens(
    client: httpx.AsyncClient, address: Address, prompt: Prompt, model: str, patience: Patience
) -> int:
    """Tokens of ``prompt``, chat template included.

    Raises BadRequest when the server cannot count, EngineLost or UpstreamFailed when it fails.
    """

    async def told(route: str, question: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = await ask(client, address, patience, f"{address.root}{route}", question)
            value = msgspec.json.decode(answer.body) if answer.good else None
        except TimeoutError as error:
            raise UpstreamFailed(str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            value = None
        return value if isinstance(value, dict) else {}

    messages = [{"role": m.role, "content": m.content} for m in prompt.messages]
    # vLLM and SGLang answer {count, ...}, and vLLM applies the chat template itself.
    asked: dict[str, Any] = {"messages": messages} if prompt.text is None else {"prompt": prompt.text}
    count = (await told("/tokenize", {"model": model, **asked})).get("count")
    if isinstance(count, int):
        return count
    # llama.cpp knows the template and the tokens under two names, and answers {tokens: [...]}.
    text = prompt.text
    if text is None:
        text = (await told("/apply-template", {"messages": messages})).get("prompt")
    if isinstance(text, str):
        question = {"content": text, "add_special": True, "parse_special": True}
        tokens = (await told("/tokenize", question)).get("tokens")
        if isinstance(tokens, list) and (tokens or not text):
            return len(tokens)
    raise BadRequest("the upstream server cannot count tokens: it offers no /tokenize")
