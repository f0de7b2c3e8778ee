"""`tidings backtest --composite`: what a composite would have detected in the stored events."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import typer

from tidings.cli.detections import constituents
from tidings.cli.server.server import connected
from tidings.cli.terminal import counted, note, output, plain, progress, warn
from tidings.schema import Instant
from tidings.store import Store

_DAY = 86_400_000_000


def in_store(
    journal: Store, text: str, after: int, upto: int, begin: Instant, end: Instant, newest: int
) -> dict[str, Any]:
    """What the server answers to the same question, as far as both can say it. Raises LanguageError."""
    from tidings.composite.trace import awaited_part
    from tidings.language.composites import BoundComposite
    from tidings.pipeline.batch.composite_history import detected

    bound = BoundComposite.read(text, journal.catalog(), end, profiles=journal.composite_profiles())
    with progress() as bar:
        bar.add_task("looking", total=None)
        found = detected(journal, bound, after, upto, end)
    days = Counter(one.time // _DAY for one in found.detections)
    shown = found.detections[::-1][:newest]
    return {
        "composite": bound.text,
        "warnings": list(bound.warnings),
        "since": str(begin),
        "until": None if found.until is None else str(found.until),
        "detected": len(found.detections),
        "scanned": found.events,
        "unreadable": found.unreadable,
        "dropped": found.dropped,
        "per_day": [{"day": str(Instant(day * _DAY))[:10], "count": days[day]} for day in sorted(days)],
        "newest": [
            {
                "time": str(Instant(one.time)),
                "key": dict(zip(bound.composite.by, one.key, strict=True)),
                "events": [
                    {"id": event.id, "source": event.source, "time": str(Instant(event.time))} for event in one.events
                ],
                **({"expired": expired} if (expired := awaited_part(bound.composite.tree, one.awaited)) else {}),
            }
            for one in shown
        ],
    }


def at_server(address: str, token: str, text: str, since: str, newest: int) -> dict[str, Any]:
    with connected(address, token) as client, progress() as bar:
        bar.add_task("looking", total=None)
        return client.test_composite(text, since=since, limit=newest)


def show(found: dict[str, Any], as_json: bool) -> None:
    for warning in found["warnings"]:
        warn(warning)
    if as_json:
        typer.echo(msgspec.json.encode(found).decode())
        return
    if found.get("of_newest") is not None:
        note(f"only the newest {found['of_newest']:,} positions of the journal were looked at")
    if found["unreadable"]:
        warn(f"{counted(found['unreadable'], 'event')} of the journal could not be read")
    if found["dropped"]:
        warn(
            f"{found['dropped']:,} partial matches were dropped, since too many waited or an event has too many values"
        )
    detected = counted(found["detected"], "detection")
    output.print(f"{detected} in {counted(found['scanned'], 'event')}, time ran to {found['until'] or 'no event'}")
    for day in found["per_day"]:
        output.print(f"{day['day']}  {day['count']:>9,}")
    if found["newest"]:
        output.print("the newest:")
    for one in found["newest"]:
        key = "".join(f"  {name} {value}" for name, value in one["key"].items())
        output.print(plain(f"{one['time']}{key}  {constituents(one['events'], one.get('expired', ''))}"))
