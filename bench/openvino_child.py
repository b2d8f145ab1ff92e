"""The process that drives OpenVINO GenAI: closed loops over its continuous batching, stamps as JSON.

It runs with a Python that may have nothing else of ours installed, so it imports the prompts and
the standard library only. A token is stamped when a step of the pipeline has returned it.
"""

from __future__ import annotations

import itertools
import json
import resource
import sys
import time
from collections.abc import Iterator
from typing import Any

from bench.prompts import prompt

_WARM_UP_TOKENS = 16
_CACHE_GB = 1
_SLOTS = 16


def main(task: dict[str, Any]) -> dict[str, Any]:
    """Load, warm up, measure every cell. Times on the machine's monotonic clock."""
    pipeline = _pipeline(task["model"])
    numbers = itertools.count(101)
    first = _closed_loop(pipeline, "short", 1, 1, 2, numbers)
    for kind in task["kinds"]:
        _closed_loop(pipeline, kind, 1, 1, _WARM_UP_TOKENS, numbers)
        _closed_loop(pipeline, kind, 4, 1, _WARM_UP_TOKENS, numbers)
    cells = []
    for kind in task["kinds"]:
        for users in task["users"]:
            rounds = task["rounds"] * (2 if users == 1 else 1)
            answers = _closed_loop(pipeline, kind, users, rounds, task["tokens"], numbers)
            cells.append({"kind": kind, "users": users, "answers": answers})
    # Linux counts it in kilobytes.
    peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"first_text_ns": first[0][1][0], "peak_bytes": peak_bytes, "cells": cells}


# Private


def _pipeline(model: str) -> Any:
    import openvino_genai  # type: ignore[import-not-found]

    scheduler = openvino_genai.SchedulerConfig()
    scheduler.cache_size = _CACHE_GB
    scheduler.max_num_seqs = _SLOTS
    scheduler.dynamic_split_fuse = True
    scheduler.enable_prefix_caching = False
    return openvino_genai.ContinuousBatchingPipeline(model, scheduler, "CPU")


def _closed_loop(
    pipeline: Any, kind: str, users: int, rounds: int, tokens: int, numbers: Iterator[int]
) -> list[tuple[int, list[int], int]]:
    """(due, arrivals of pieces, number of tokens) of every answer; all users start together."""
    from openvino_genai import GenerationConfig

    config = GenerationConfig()
    config.max_new_tokens = tokens
    config.ignore_eos = True
    tokenizer = pipeline.get_tokenizer()
    left = [rounds] * users
    running: dict[int, tuple[Any, int, list[int]]] = {}
    done: list[tuple[int, list[int], int]] = []
    counts: dict[int, int] = {}

    def ask(user: int) -> None:
        left[user] -= 1
        messages = [{"role": "user", "content": prompt(kind, next(numbers))}]
        due_ns = time.monotonic_ns()
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True)
        number = len(done) + len(running)
        counts[user] = 0
        running[user] = (pipeline.add_request(number, text, config), due_ns, [])

    for user in range(users):
        ask(user)
    while running:
        pipeline.step()
        at_ns = time.monotonic_ns()
        for user, (handle, due_ns, arrivals) in list(running.items()):
            while handle.can_read():
                made = sum(len(output.generated_ids) for output in handle.read().values())
                counts[user] += made
                if made:
                    arrivals.append(at_ns)
            if counts[user] >= tokens:
                done.append((due_ns, arrivals, counts[user]))
                del running[user]
                if left[user]:
                    ask(user)
    return done


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
