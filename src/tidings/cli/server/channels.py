"""The options of `tidings subscribe` that say how you are notified, as the channel of the API."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

_RATE = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
_QUIET = re.compile(r"(\d\d:\d\d)-(\d\d:\d\d) (\S+)")

Webhook = Annotated[str, typer.Option(metavar="URL", help="Send matches to this URL as signed POST requests.")]
Email = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Send matches to this email address, once its owner confirms.")
]
Apprise = Annotated[str, typer.Option(metavar="URL", help="Send matches by Apprise, e.g. slack://… or ntfys://…")]
DigestCount = Annotated[
    int | None, typer.Option(metavar="N", help="Digest: send when this many matches are collected.")
]
DigestSeconds = Annotated[
    int | None, typer.Option(metavar="S", help="Digest: send this many seconds after the first match.")
]
Rate = Annotated[
    str, typer.Option(metavar="N/S", help="Rate limit: at most N deliveries in S seconds, e.g. 10/60; the rest waits.")
]
Quiet = Annotated[
    str,
    typer.Option(
        metavar="HOURS", help="Quiet hours, e.g. '22:00-07:00 Europe/Athens'; deliveries wait until they end."
    ),
]


def channel_of(
    webhook: str, email: str, apprise: str, digest_count: int | None, digest_seconds: int | None, rate: str, quiet: str
) -> dict[str, Any] | None:
    """None where nothing was said: what matches is stored to be read."""
    ways = {"webhook": ("url", webhook), "email": ("address", email), "apprise": ("url", apprise)}
    chosen = [(kind, member, value) for kind, (member, value) in ways.items() if value]
    if len(chosen) > 1:
        raise typer.BadParameter("choose one of --webhook, --email and --apprise.")
    digest = {"count": digest_count, "seconds": digest_seconds}
    rhythm: dict[str, Any] = {"digest": {name: value for name, value in digest.items() if value is not None}}
    if rate:
        rhythm["rate"] = dict(zip(("count", "seconds"), map(int, _parts(_RATE, rate, "--rate", "10/60")), strict=True))
    if quiet:
        hours = _parts(_QUIET, quiet, "--quiet", "22:00-07:00 Europe/Athens")
        rhythm["quiet"] = dict(zip(("from", "to", "zone"), hours, strict=True))
    rhythm = {name: value for name, value in rhythm.items() if value}
    if not chosen:
        if rhythm:
            raise typer.BadParameter("a digest, a rate or quiet hours need --webhook, --email or --apprise.")
        return None
    ((kind, member, value),) = chosen
    return {"kind": kind, member: value, **rhythm}


def _parts(form: re.Pattern[str], text: str, option: str, example: str) -> tuple[str, ...]:
    found = form.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"{text!r} is not of the form {example}", param_hint=option)
    return found.groups()
