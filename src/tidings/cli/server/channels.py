"""The options of `tidings subscribe` that say how you are told, as the channel of the API."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

_RATE = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")
_QUIET = re.compile(r"(\d\d:\d\d)-(\d\d:\d\d) (\S+)")

Webhook = Annotated[str, typer.Option(metavar="URL", help="Send it there, signed, as a POST.")]
Email = Annotated[str, typer.Option(metavar="ADDRESS", help="Mail it; whoever reads it there is asked first.")]
Apprise = Annotated[str, typer.Option(metavar="URL", help="Send it by Apprise, as slack://… or ntfys://…")]
DigestCount = Annotated[int | None, typer.Option(metavar="N", help="Together: when there are so many.")]
DigestSeconds = Annotated[int | None, typer.Option(metavar="S", help="Together: so long after the first.")]
Rate = Annotated[str, typer.Option(metavar="N/S", help="At most N in S seconds, as 10/60; the rest comes later.")]
Quiet = Annotated[
    str, typer.Option(metavar="HOURS", help="Nothing then, all of it after, as '22:00-07:00 Europe/Athens'.")
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
