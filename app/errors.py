"""Every way a request can fail, as one tree.

    FirstwordError
    ├── BadRequest         400  what was sent, or a Host that is not ours; names the field and its limits
    │   ├── PromptTooLong  400  names both numbers: the prompt's tokens and the context's
    │   └── TooLarge       413  more bytes than a request may have
    ├── Unauthorized       401  a key is needed and was not given
    ├── Forbidden          403  a page from elsewhere, or what only a room's teacher may do
    ├── NotFound           404  no such reply, model, room or page
    ├── RateLimited        429  one socket says too much, or one address guesses rooms' codes
    ├── Overloaded         503  the line at the door, or another one, is full; says when to come back
    ├── EngineLoading      503  the model is not loaded yet
    ├── EngineLost         503  the engine's process died, or the upstream cannot be reached
    ├── EngineFailed       500  one sequence failed; the others go on
    ├── OutOfMemory        503  the device had no memory left for this sequence
    ├── SlowConsumer       408  the reader stopped reading for longer than the stall limit
    ├── UpstreamFailed     502  somebody else's engine failed
    └── ServerShutdown     503  the server is going away
    StartupError                a command cannot start; one line on stderr, non-zero exit

An error knows its HTTP status, its WebSocket close code and whether trying again can help. It
refuses to know any wire's spelling: transports and dialects turn it into their own words.
"""

from __future__ import annotations


class FirstwordError(Exception):
    """A failure with a stable ``code`` that every wire can carry."""

    code = "internal_error"
    status = 500
    close_code = 1011
    retryable = False
    #: Whole seconds after which trying again makes sense; None when it does not.
    retry_after_s: int | None = None

    def __init__(self, message: str, *, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.param = param


class BadRequest(FirstwordError):
    code = "invalid_request"
    status = 400
    close_code = 1008


class PromptTooLong(BadRequest):
    code = "prompt_too_long"


class TooLarge(BadRequest):
    code = "request_too_large"
    status = 413
    close_code = 1009


class Unauthorized(FirstwordError):
    code = "unauthorized"
    status = 401
    close_code = 4401


class Forbidden(FirstwordError):
    code = "forbidden"
    status = 403
    close_code = 1008


class NotFound(FirstwordError):
    code = "not_found"
    status = 404
    close_code = 4404


class RateLimited(FirstwordError):
    code = "rate_limited"
    status = 429
    close_code = 4429
    retryable = True
    retry_after_s = 60


class Overloaded(FirstwordError):
    code = "overloaded"
    status = 503
    close_code = 1013
    retryable = True
    retry_after_s = 2


class EngineLoading(Overloaded):
    code = "engine_loading"


class EngineLost(FirstwordError):
    code = "engine_lost"
    status = 503
    retryable = True
    retry_after_s = 5


class EngineFailed(FirstwordError):
    code = "engine_error"


class OutOfMemory(FirstwordError):
    code = "out_of_memory"
    status = 503
    retryable = True
    retry_after_s = 2


class SlowConsumer(FirstwordError):
    code = "slow_consumer"
    status = 408
    close_code = 4008
    retryable = True


class UpstreamFailed(FirstwordError):
    code = "upstream_error"
    status = 502
    retryable = True


class ServerShutdown(FirstwordError):
    code = "server_shutdown"
    status = 503
    close_code = 4012
    retryable = True
    retry_after_s = 5


class StartupError(Exception):
    """A command cannot start; the message is one line for a person."""


_BY_CODE: dict[str, type[FirstwordError]] = {
    kind.code: kind
    for kind in (
        FirstwordError,
        BadRequest,
        PromptTooLong,
        TooLarge,
        Unauthorized,
        Forbidden,
        NotFound,
        RateLimited,
        Overloaded,
        EngineLoading,
        EngineLost,
        EngineFailed,
        OutOfMemory,
        SlowConsumer,
        UpstreamFailed,
        ServerShutdown,
    )
}


def unreadable(what: str, why: Exception) -> BadRequest:
    """A refusal in one short line, whatever the parser says: it may repeat what was sent, breaks included."""
    return BadRequest(f"{what}: {' '.join(str(why).split())[:200]}")


def from_code(code: str, message: str, param: str | None = None) -> FirstwordError:
    """Rebuild the error that crossed a process border as ``code`` and ``message``."""
    return _BY_CODE.get(code, FirstwordError)(message, param=param)
