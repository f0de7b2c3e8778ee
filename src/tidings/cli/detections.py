"""A detection in one line, for people."""

from collections.abc import Iterable, Mapping


def constituents(events: Iterable[Mapping[str, object]], expired: str = "") -> str:
    """Their ids; `expired` is what a partial match waited for."""
    ids = ", ".join(str(event["id"]) for event in events) or "no events"
    return f"{ids}  expired, waited for {expired}" if expired else ids
