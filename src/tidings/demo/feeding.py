"""The process beside the service: grows the schema, makes the subscriptions, then publishes until it is stopped.

Cars come from an auction site of its own, scraped as any site would be; flights and weather are replayed; bids are made
up. `tell` gets what the service's side should know, as members of a line of JSON; `log` what belongs into a log.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from tidings.client import Client, Patience, ServerUnreachable
from tidings.demo.assignment import Assignment
from tidings.demo.bidding import bid
from tidings.demo.flying import fly
from tidings.demo.receiver import Receiver
from tidings.demo.saleroom import saleroom_schema
from tidings.demo.standing import Standing, moment, read_note
from tidings.demo.vocabulary import auction_mapping, auction_schema
from tidings.demo.wishes import WISHES, About
from tidings.errors import ClientError
from tidings.feeds import DataMissing, Feed, SchemaClash
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.samples.auction_site import AuctionSite, newest_at
from tidings.feeds.samples.flights import schema as flight_schema
from tidings.schema import Catalog

Tell = Callable[[dict[str, Any]], None]
Log = Callable[[str], None]

_ON_A_LOOK = 50  # auctions; a page has twice as many, so none is missed
_LOOK = 0.25  # seconds
_ENDING = 5.0  # seconds for what is under way when it stops


def feed(assignment: Assignment, stop: threading.Event, tell: Tell, log: Log) -> None:
    """Returns when `stop` is set; raises what none of its parts can go on with."""
    patience = Patience(retries=3, deadline=5.0)  # whoever publishes waits longer, but looks whether it is to stop
    with ExitStack() as closing:
        client = closing.enter_context(Client(assignment.url, assignment.publisher, patience=patience))
        people = {
            name: closing.enter_context(Client(assignment.url, token, patience=patience))
            for name, token in assignment.people.items()
        }
        while not client.healthy():
            if stop.wait(_LOOK):
                return
        site = closing.enter_context(AuctionSite(0, rate=assignment.rate, at_start=newest_at(time.time())))
        feeds = grow(client, tell)
        _subscribe(closing, assignment, people, client, site.count, feeds)
        works: dict[str, Callable[[], object]] = {}
        if "cars" in feeds:
            every = min(1.0, _ON_A_LOOK / max(assignment.rate, 1.0))
            works["cars"] = partial(Feed(auction_mapping(site.url, every), client, log).run, stop)
        if "flights" in feeds:
            works["flights"] = partial(fly, client, assignment.speed, stop, log)
        if "bids" in feeds:
            works["bids"] = partial(bid, client, stop, log)
        works["watch"] = partial(_watch, assignment, client, stop, tell)
        for token in list(assignment.people.values())[:1]:  # it hangs on a stream: nobody waits for it in the end
            threading.Thread(target=_first_match, args=(assignment, token, tell, log), daemon=True).start()
        tell({"lag": 0})
        _work(works, stop)


def grow(client: Client, tell: Tell) -> set[About]:
    """Makes what the schema lacks; the feeds that can be published under it."""
    able: set[About] = set()
    sources: dict[About, Callable[[], Catalog]] = {
        "cars": auction_schema,
        "flights": flight_schema,
        "bids": saleroom_schema,
    }
    for name, schema in sources.items():
        try:
            for change in changes(schema(), client.schema()):
                client.grow(change)
            able.add(name)
        except (DataMissing, SchemaClash) as problem:
            what = "flights and weather" if name == "flights" else name
            tell({"say": f"The demo continues without {what}: {problem}."})
    return able


def _subscribe(
    closing: ExitStack, given: Assignment, people: dict[str, Client], client: Client, auction: int, feeds: set[About]
) -> None:
    data = Path(given.data)
    running = closing.enter_context(Receiver(read_note(data).port)) if given.webhooks else None
    standing = Standing(people, data, "" if running is None else running.url)
    if running is not None:
        standing.move(running.port)
    standing.make((wish for wish in WISHES if wish.about in feeds), client.schema(), moment(auction))


def _watch(given: Assignment, client: Client, stop: threading.Event, tell: Tell) -> None:
    """Tells when the pipeline runs."""
    while not stop.wait(_LOOK):
        try:
            if client.ready().get("pipeline", {}).get("state") == "running":
                return tell({"pipeline": time.time() - given.began})
        except ServerUnreachable:
            pass  # it is starting again, or we are about to stop


def _first_match(given: Assignment, token: str, tell: Tell, log: Log) -> None:
    """Tells of the first match of one whose token we have."""
    try:
        with Client(given.url, token) as client:
            next(client.stream())
        tell({"match": time.time() - given.began})
    except ClientError as problem:
        log(f"the first match cannot be observed: {problem}")


def _work(works: dict[str, Callable[[], object]], stop: threading.Event) -> None:
    """Each in a thread of its own; what one of them cannot go on with ends all, and they are started again."""
    problems: list[Exception] = []

    def work(act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as problem:
            problems.append(problem)
            stop.set()

    threads = [threading.Thread(target=work, args=(act,), name=name, daemon=True) for name, act in works.items()]
    for thread in threads:
        thread.start()
    stop.wait()
    end = time.monotonic() + _ENDING
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    if problems:
        raise problems[0]
