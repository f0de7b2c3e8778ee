"""Dead letters of a feed, tried again by the mapping as it is now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidings.client import Client
from tidings.feeds.event_maker import EventMaker, Made, check_schema
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.memory.dead_letters import DeadLetters
from tidings.feeds.new_values import Growth
from tidings.feeds.records.patterns import limited_patterns


@dataclass(frozen=True, slots=True)
class Retried:
    """`unread`: letters without something that the mapping reads now and did not when they were refused."""

    published: int = 0
    refused: int = 0
    unread: int = 0


@limited_patterns()
def retry(mapping: Mapping, client: Client, letters: DeadLetters) -> Retried:
    """Publishes what can be, and keeps the rest with the new reasons. Raises FeedError, ClientError or OSError."""
    catalog = client.schema()
    check_schema(mapping, catalog)
    maker = EventMaker(mapping, catalog)
    made: list[tuple[str, Made]] = []
    unread = refused = 0
    for id, letter in list(letters.letters.items()):
        record: dict[str, Any] = {path: tuple(values) for path, values in letter["record"].items()}
        if not set(mapping.paths) <= record.keys():
            unread += 1
            continue
        one = maker.make(record)
        if one.errors:
            refused += 1
            letters.update(id, one.refused(), one.faults)
        else:
            made.append((id, one))
    Growth(mapping).append([one for _, one in made], catalog, client)
    done = client.publish_many([one.raw for _, one in made])
    by_server = {told["line"] - 1: told for told in done.refused}
    for number, (id, one) in enumerate(made):
        if number in by_server:
            told = by_server[number]
            letters.update(
                id, told, one.faults or [f"{error['attribute']}: {error['rule']}" for error in told["errors"]]
            )
        else:
            letters.drop(id)
    letters.keep(at_once=True)
    return Retried(len(made) - len(by_server), refused + len(by_server), unread)
