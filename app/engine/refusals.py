"""What the engines here say instead of taking a prompt, in words for whoever asked.

The scripted engine and the one in its own process refuse alike, so that a page shown with the one
behaves as with the other. It refuses to know when an engine changes its state, and why.
"""

from __future__ import annotations

from collections.abc import Sequence

from app.errors import BadRequest, EngineLoading, EngineLost, PromptTooLong, ServerShutdown
from app.generation import EngineStatus
from app.prompt import Prompt


def refuse_unready(status: EngineStatus) -> None:
    """Raises why no prompt is taken now; nothing when the engine is ready."""
    match status.state:
        case "loading":
            raise EngineLoading("The model is still loading; try again in a moment.")
        case "stopped":
            raise shutting_down()
        case "failed":
            raise EngineLost(f"The engine failed for good: {status.detail}")
        case "restarting":
            raise gone()
        case "ready":
            pass


def gone() -> EngineLost:
    """For a prompt that comes while the engine is being restarted."""
    return EngineLost("The engine stopped and is being restarted; try again in a moment.")


def cut_off() -> EngineLost:
    """For a reply that the engine has taken with it."""
    return EngineLost("The engine stopped in the middle of this reply; it is being restarted.")


def shutting_down() -> ServerShutdown:
    """For every prompt and reply once the server is told to stop."""
    return ServerShutdown("The server is shutting down.")


def too_long(prompt: Prompt, num_tokens: int, context_tokens: int) -> PromptTooLong:
    """For a prompt that leaves no room for an answer."""
    return PromptTooLong(
        f"The prompt has {num_tokens} tokens; the model's context holds "
        f"{context_tokens}, one of them for the answer.",
        param="messages" if prompt.text is None else "prompt",
    )


def unknown_tokens(prompt: Prompt, token_ids: Sequence[int], vocab_size: int) -> BadRequest | None:
    """For a prompt with tokens that the model lacks, though its tokenizer may know them; else None.

    On a GPU an index that is out of range would end the whole process, and with it everybody's reply.
    """
    if any(not 0 <= id < vocab_size for id in prompt.sampling.logit_bias):
        return BadRequest(f"logit_bias: token ids must be from 0 to {vocab_size - 1}.", param="logit_bias")
    if (largest := max(token_ids)) < vocab_size:
        return None
    field = "messages" if prompt.text is None else "prompt"
    return BadRequest(
        f"The {field} holds a token that the model does not know: {largest}; the last it knows is "
        f"{vocab_size - 1}.",
        param=field,
    )
