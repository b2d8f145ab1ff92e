"""Our errors in OpenAI's words."""

import pytest

from app.errors import (
    BadRequest,
    EngineFailed,
    EngineLost,
    FirstwordError,
    NotFound,
    Overloaded,
    PromptTooLong,
    Unauthorized,
)
from app.transports.openai_errors import error_body, retry_headers


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (BadRequest("bad", param="temperature"), "invalid_request_error", None),
        (PromptTooLong("long", param="messages"), "invalid_request_error", "context_length_exceeded"),
        (Unauthorized("who"), "invalid_request_error", "invalid_api_key"),
        (NotFound("no", param="model"), "invalid_request_error", "model_not_found"),
        (NotFound("no", param="reply"), "invalid_request_error", "not_found"),
        (Overloaded("full"), "server_error", "overloaded"),
        (EngineFailed("odd"), "server_error", "engine_error"),
    ],
)
def test_every_error_has_four_keys_and_the_code_that_programs_look_for(
    error: FirstwordError, kind: str, code: str | None
) -> None:
    assert error_body(error) == {
        "error": {"message": error.message, "type": kind, "param": error.param, "code": code}
    }


def test_an_error_that_will_not_heal_tells_the_sdk_not_to_try_again() -> None:
    assert retry_headers(EngineFailed("odd")) == {"x-should-retry": "false"}
    assert retry_headers(Overloaded("full")) == {"retry-after": "2"}
    assert retry_headers(EngineLost("gone")) == {"retry-after": "5"}
