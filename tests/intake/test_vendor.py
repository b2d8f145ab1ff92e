"""What both vendors' dialects share."""

import pytest

from app.errors import NotFound
from app.intake.vendor import check_model


@pytest.mark.parametrize("asked", ["SmolLM2-135M-Instruct", "smollm2", "smol", "default"])
def test_the_served_model_answers_to_its_name_a_beginning_of_it_and_default(asked: str) -> None:
    check_model(asked, "SmolLM2-135M-Instruct")


@pytest.mark.parametrize("asked", ["", "gpt-4o", "SmolLM2-135M-Instruct-v2", "LLM2"])
def test_no_other_name_is_taken(asked: str) -> None:
    with pytest.raises(NotFound, match="SmolLM2-135M-Instruct"):
        check_model(asked, "SmolLM2-135M-Instruct")
