"""`firstword record`: ask a running Firstword and keep its answer with all times in a file.

It reads over NDJSON at pace token, so the file holds the events as the server told them. It refuses
to know the format (app.replay) and how anything is generated.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import httpx
import msgspec
import typer

from app.commands.exits import CANNOT_CONNECT, USAGE, CommandError, one_line_errors
from app.commands.server_options import file_to_write, key_of, prompt_of
from app.commands.terminal import printable, spell_ms
from app.errors import FirstwordError
from app.events import AnyEvent, Delta, Error
from app.prompt import Message
from app.replay.library import card_of
from app.replay.recorder import record as make_recording
from app.replay.recording import Model, Recording, recording_bytes
from app.telemetry.about import About, version

#: The server pings every 10 s; a silence as long as this is no answer any more.
_SILENCE_S = 60.0
_TITLE_CHARS = 80


def record(
    prompt: Annotated[str, typer.Option("--prompt", help="What is asked.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write, FILE.json.")],
    url: Annotated[str, typer.Argument(help="A running Firstword.")] = "http://127.0.0.1:8000",
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens of the answer.")] = 256,
    seed: Annotated[int | None, typer.Option(min=0, help="For an answer that can be had again.")] = None,
    temperature: Annotated[float, typer.Option(min=0, max=2, help="0: always the likeliest word.")] = 0.2,
    title: Annotated[str, typer.Option(help="Shown in lists. [default: the prompt]")] = "",
    key_env: Annotated[str, typer.Option(help="Environment variable that holds the server's API key.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON instead of text.")] = False,
) -> None:
    """Ask a running Firstword and save the answer with all its times, to be played again.

    Exit codes: 0 well, 1 the answer failed or cannot be saved, 2 wrong usage, 3 cannot connect.
    """
    settings: dict[str, Any] = {"max_tokens": max_tokens, "temperature": temperature}
    if seed is not None:
        settings["seed"] = seed
    with one_line_errors():
        key = key_of(key_env or None)
        headers = {"authorization": f"Bearer {key}"} if key else {}
        file_to_write(out)
        prompt = prompt_of(prompt)
        about, events = _ask(url, headers, prompt, settings, _silent if as_json else _say)
        try:
            recording = make_recording(
                events,
                id=_id_for(out),
                title=title or _shortened(prompt),
                made_at=datetime.now(UTC),
                made_by=f"firstword {version()}",
                messages=[Message("user", prompt)],
                settings=settings,
                model=Model(about.model.name, about.model.device, about.model.dtype),
                hardware=about.hardware,
            )
            out.write_bytes(recording_bytes(recording))
        except FirstwordError as error:
            raise CommandError(f"this answer cannot be recorded: {error}") from None
        except OSError as error:
            raise CommandError(f"{out} cannot be written: {error.strerror}") from None
    _report(recording, out, as_json)


# Private


def _ask(
    url: str, headers: dict[str, str], prompt: str, settings: dict[str, Any], say: Callable[[str], None]
) -> tuple[About, list[AnyEvent]]:
    """What answers, and everything it told."""
    body = {"messages": [{"role": "user", "content": prompt}], "pace": "token", **settings}
    events: list[AnyEvent] = []
    try:
        with httpx.Client(base_url=url, timeout=_SILENCE_S, headers=headers) as client:
            about = _about(client, url)
            for event in _events(client, body):
                events.append(event)
                if isinstance(event, Error):
                    raise CommandError(f"the reply failed: {printable(event.message)}")
                if isinstance(event, Delta):
                    say(printable(event.text))
        say("\n")
        return about, events
    except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
        raise CommandError(f"{url} is no address of a server: {error}", USAGE) from None
    except (httpx.ConnectError, httpx.ConnectTimeout):
        raise CommandError(
            f"cannot connect to {url}: is `firstword serve` running?", CANNOT_CONNECT
        ) from None
    except httpx.HTTPError as error:
        raise CommandError(f"the connection to {url} broke: {error or type(error).__name__}") from None


def _about(client: httpx.Client, url: str) -> About:
    try:
        response = client.get("/api/about")
    except UnicodeError as error:  # The host's name can be none, which only the resolver finds out.
        raise CommandError(f"{url} is no address of a server: {error}", USAGE) from None
    try:
        if response.status_code == httpx.codes.OK:
            return msgspec.json.decode(response.content, type=About)
    except msgspec.DecodeError:
        pass
    raise CommandError(
        f"{url} is no Firstword that can be recorded: GET /api/about was not answered as expected"
    )


def _events(client: httpx.Client, body: dict[str, Any]) -> Iterator[AnyEvent]:
    decoder = msgspec.json.Decoder(AnyEvent)
    with client.stream(
        "POST", "/api/replies", json=body, headers={"accept": "application/x-ndjson"}
    ) as answer:
        if answer.status_code != httpx.codes.OK:
            raise CommandError(f"the server refused: {_refusal(answer)}")
        for line in answer.iter_lines():
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError as error:
                raise CommandError(f"the server told something that is no event: {error}") from None


def _refusal(answer: httpx.Response) -> str:
    try:
        return printable(msgspec.json.decode(answer.read(), type=Error).message)[:300]
    except msgspec.DecodeError:
        return f"HTTP {answer.status_code}"


def _id_for(out: Path) -> str:
    """The file's own name where it can be an id, else one by lot."""
    return out.stem if re.fullmatch(r"[A-Za-z0-9_-]{1,64}", out.stem) else secrets.token_hex(8)


def _shortened(prompt: str) -> str:
    line = " ".join(prompt.split())
    return line if len(line) <= _TITLE_CHARS else line[: _TITLE_CHARS - 1] + "…"


def _report(recording: Recording, out: Path, as_json: bool) -> None:
    card = card_of(recording)
    if as_json:
        told = {"file": str(out), "sha256": recording.reply.sha256, **msgspec.to_builtins(card)}
        print(json.dumps(told, ensure_ascii=False))
        return
    times = f"first word after {spell_ms(card.first_ms)}, all after {spell_ms(card.total_ms)}"
    print(f"Saved {out}: {card.tokens} tokens, {times}.")


def _say(text: str) -> None:
    print(text, end="", flush=True)


def _silent(text: str) -> None:
    """Nothing but the JSON may be on stdout."""
