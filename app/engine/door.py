"""The door of the engine's process: prompts become token ids, in a thread beside the loop.

Templates and tokenisation of a long prompt take a good part of a second, which would be a gap in
everybody's stream if the loop did it. A prompt that does not fit is refused here and costs no
step; one whose answer would not fit gets a shorter answer. This module refuses to know the pipe,
batches and the model.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from app.engine.commands import Add, Cancel, Command, Grant
from app.engine.messages import Counted, Outputs, Report
from app.engine.refusals import too_long
from app.engine.runner_protocol import Tokenizer
from app.errors import BadRequest, FirstwordError
from app.generation import Failed
from app.prompt import Prompt

log = logging.getLogger(__name__)

#: Prompts that wait for the tokenizer; with more the pipe is not read on, and the parent says no.
MAX_WAITING = 256


@dataclass(frozen=True, slots=True)
class _Question:
    number: int
    prompt: Prompt


class Door:
    """``commands`` leads to the loop, ``tell`` to the parent; ``run`` is the thread's main.

    All other methods are called by the thread that reads the pipe.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        context_tokens: int,
        commands: queue.SimpleQueue[Command],
        tell: Callable[[Report], None],
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._tokenizer = tokenizer
        self._context_tokens = context_tokens
        self._commands = commands
        self._tell = tell
        self._clock = clock
        self._waiting: queue.Queue[Prompt | _Question] = queue.Queue(MAX_WAITING)
        #: What was said about sequences that the loop does not know yet; it follows their Add.
        self._late: dict[str, list[Cancel | Grant]] = {}
        self._late_lock = threading.Lock()

    def submit(self, prompt: Prompt) -> None:
        """Blocks while ``MAX_WAITING`` prompts are in line for the tokenizer."""
        with self._late_lock:
            self._late[prompt.id] = []
        self._waiting.put(prompt)

    def count(self, number: int, prompt: Prompt) -> None:
        """Answered by a Counted of this number."""
        self._waiting.put(_Question(number, prompt))

    def pass_on(self, command: Cancel | Grant) -> None:
        """To the loop, without waiting behind other people's prompts, but never before the Add."""
        with self._late_lock:
            late = self._late.get(command.id)
            if late is None:
                self._commands.put(command)
            else:
                late.append(command)

    def run(self) -> None:
        """Serve for ever."""
        while True:
            self.serve(self._waiting.get())

    def serve(self, work: Prompt | _Question) -> None:
        """One prompt or question, whatever comes of it."""
        if isinstance(work, _Question):
            self._tell(self._answer(work))
            return
        try:
            token_ids = self._encode(work)
            next_turn = self._tokenizer.next_turn if work.text is None else ()
            add = Add(self._fitted(work, len(token_ids)), token_ids, next_turn)
        except FirstwordError as error:
            with self._late_lock:
                del self._late[work.id]
            failed = Failed(work.id, error.code, error.message, self._clock(), error.param)
            self._tell(Outputs([failed]))
            return
        with self._late_lock:
            self._commands.put(add)
            for command in self._late.pop(work.id):
                self._commands.put(command)

    # Private

    def _answer(self, question: _Question) -> Counted:
        try:
            return Counted(question.number, len(self._encode(question.prompt)))
        except FirstwordError as error:
            return Counted(question.number, None, error.code, error.message, error.param)

    def _encode(self, prompt: Prompt) -> list[int]:
        field = "messages" if prompt.text is None else "prompt"
        try:
            if prompt.text is not None:
                token_ids = self._tokenizer.encode_text(prompt.text)
            else:
                token_ids = self._tokenizer.encode_chat(prompt.messages, prompt.continue_last)
        except FirstwordError:
            raise  # it says itself what is wrong
        except Exception as error:
            # The border of one generation: templates are programs, and tokenizers are somebody else's.
            # The message may quote the prompt, and its id is its reader's key: neither is logged.
            what = "chat template or tokenizer" if prompt.text is None else "tokenizer"
            log.warning("the %s raised %s at a prompt", what, type(error).__name__)
            raise BadRequest(f"The model's {what} cannot read the {field}: {error}", param=field) from None
        if not token_ids:
            raise BadRequest("The prompt is empty: it has no tokens.", param=field)
        return token_ids

    def _fitted(self, prompt: Prompt, num_tokens: int) -> Prompt:
        """The prompt with an answer that fits behind it. Raises PromptTooLong."""
        room = self._context_tokens - num_tokens
        if room < 1:
            raise too_long(prompt, num_tokens, self._context_tokens)
        if prompt.max_tokens <= room:
            return prompt
        return msgspec.structs.replace(prompt, max_tokens=room)
