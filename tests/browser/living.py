"""A service as people use it: `tidings serve` with its pipeline, some accounts, subscriptions and channels, and events
that keep coming. For the screenshots; everything is made through the API, as a user would."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.service.conftest import PASSWORD
from tests.service.example_store import SCHEMA
from tests.service.receiver import Receiver, receiver
from tests.service.served import Served

ENVIRONMENT = {
    "TIDINGS_ALLOW_LOOPBACK_WEBHOOKS": "true",
    "TIDINGS_WEBHOOK_HANDSHAKE": "none",
    "TIDINGS_RETRY_SECONDS": "0.5 1",
}
FILTERS = (
    "category under vehicle and price < 1300",
    "price < estimate and condition >= good",
    "brand in ('mini', 'volvo') and year between 1960 and 1979",
    "category under furniture and title contains 'oak'",
    "event_type contains car and not (paint contains 'blue') and price < 4000 or year < 1955",
)
_BRANDS = ("opel", "mini", "audi", "volvo")
_PAINTS = ("red", "white", "blue", "racing green", "black", "cream")
_WOODS = ("Oak", "Walnut", "Teak", "Pine")
_FURNITURE = ("dining table", "desk", "chair")
_EXTRA = "a car's registration papers are with it, the engine was overhauled"


@dataclass(frozen=True)
class Living:
    """`ann` has the subscriptions, in the order of FILTERS; `operator` is the operator's token."""

    served: Served
    operator: str
    subscriptions: tuple[str, ...]

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.served.port}"

    def newest_match(self, subscription: str) -> int:
        """Its position."""
        token = _log_in(self.served, "ann")  # of this look alone
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            _, found = self.served.ask("GET", f"/v1/subscriptions/{subscription}/notifications?limit=1000", None, token)
            if found["items"]:
                _, standing = self.served.ask("GET", f"/v1/subscriptions/{subscription}", None, token)
                asked = urlencode({"filter": standing["filter"], "limit": 1000})
                _, matched = self.served.ask("GET", f"/v1/events?{asked}", None, token)
                newest = found["items"][-1]["event"]["id"]
                return next(int(one["position"]) for one in matched["items"] if one["event"]["id"] == newest)
            time.sleep(0.5)
        raise AssertionError(f"nothing matched {subscription}")


@contextmanager
def living(folder: Path, seconds: float) -> Iterator[Living]:
    """Events have come and been matched at once for so many seconds when it is entered, and go on to come."""
    with (
        Served(folder, **ENVIRONMENT) as served,
        receiver() as fine,
        receiver(status=500) as failing,
        receiver(status=410) as gone,
    ):
        operator = _operators_token(served)
        _grow(served, operator)
        subscriptions = _people(served, failing, fine, gone)
        _wait_for_pipeline(served)
        stop = threading.Event()
        publisher = threading.Thread(target=_publish, args=(served, stop))
        publisher.start()
        try:
            _wait_until_caught_up(served)
            time.sleep(seconds)
            yield Living(served, operator, subscriptions)
        finally:
            stop.set()
            publisher.join()
            served.stop()


def _operators_token(served: Served) -> str:
    """It is said a moment after the address."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for line in list(served.lines):
            if "operator's token" in line:
                return line.split()[-1]
        time.sleep(0.05)
    raise AssertionError(served.lines)


def _wait_for_pipeline(served: Served) -> None:
    """Events come only then: else its start would be all that the charts show."""
    deadline = time.monotonic() + 600
    while (seen := served.pipeline())["state"] != "running":
        assert time.monotonic() < deadline, seen
        time.sleep(0.5)


def _wait_until_caught_up(served: Served) -> None:
    """The first batches take long: kernels are compiled."""
    deadline = time.monotonic() + 600
    time.sleep(5)
    while (seen := served.ask("GET", "/readyz")[1])["lag"] >= 200:
        assert time.monotonic() < deadline, seen
        time.sleep(0.5)


def _grow(served: Served, token: str) -> None:
    form = json.loads(SCHEMA.read_bytes())
    for kind in ("domains", "attributes", "event_types"):
        for piece in form[kind]:
            _asked(served, "POST", f"/v1/schema/{kind.replace('_', '-')}", piece, token)


def _people(served: Served, *receivers: Receiver) -> tuple[str, ...]:
    """The first subscriptions have a webhook each, to one of these."""
    ann = _asked(served, "POST", "/v1/accounts", {"username": "ann", "password": PASSWORD})["token"]
    bob = _asked(served, "POST", "/v1/accounts", {"username": "bob", "password": PASSWORD})["token"]
    ids = [_asked(served, "POST", "/v1/subscriptions", {"filter": text}, ann)["id"] for text in FILTERS]
    _asked(served, "PATCH", f"/v1/subscriptions/{ids[3]}", {"state": "paused"}, ann)
    for id, one in zip(ids, receivers, strict=False):
        channel = {"kind": "webhook", "url": one.url, "digest": {"count": 100, "seconds": 20}}
        _asked(served, "PATCH", f"/v1/subscriptions/{id}", {"channel": channel}, ann)
    for year in range(1960, 1972):
        _asked(served, "POST", "/v1/subscriptions", {"filter": f"year = {year}"}, bob)
    for name in ("importer", "nightly report"):
        log_in = {"username": "ann", "password": PASSWORD, "name": name, "scopes": ["publish"]}
        _asked(served, "POST", "/v1/tokens", log_in)
    return tuple(ids)


def _publish(served: Served, stop: threading.Event) -> None:
    """A stream that swells and ebbs, the same one every time."""
    chance = random.Random(7)
    token = _log_in(served, "bob")
    number = 0
    while not stop.wait(0.5):
        for _ in range(chance.choice((3, 5, 8, 13, 21))):
            _asked(served, "POST", "/v1/events", _event(chance, number), token)
            number += 1


def _event(chance: random.Random, number: int) -> dict[str, Any]:
    ends = (datetime.now(UTC) + timedelta(hours=chance.randrange(4, 200))).isoformat(timespec="seconds")
    price = chance.randrange(40, 6_000)
    attributes: dict[str, Any] = {"price": price, "ends": ends.replace("+00:00", "Z")}
    if chance.random() < 0.7:
        attributes["estimate"] = max(20, price + chance.randrange(-400, 700))
        attributes["condition"] = chance.choice(("worn", "good", "mint"))
    if chance.random() < 0.35:
        kind = chance.choice(_FURNITURE)
        attributes |= {"title": f"{chance.choice(_WOODS)} {kind}", "category": kind}
        types = ["auction"]
    else:
        brand, year = chance.choice(_BRANDS), chance.randrange(1948, 1999)
        category = chance.choice(("car", "convertible", "estate"))
        title = f"{brand.capitalize()} {category} of {year}" + (f": {_EXTRA}" if chance.random() < 0.1 else "")
        paint = chance.sample(_PAINTS, chance.choice((1, 1, 2)))
        attributes |= {"brand": brand, "year": year, "paint": paint, "title": title, "category": category}
        types = ["auction", "car"]
    return {"id": f"lot-{number}", "source": "auctions", "event_type": types, "attributes": attributes}


def _log_in(served: Served, username: str) -> str:
    return str(_asked(served, "POST", "/v1/tokens", {"username": username, "password": PASSWORD})["token"])


def _asked(served: Served, method: str, path: str, body: object = None, token: str = "") -> Any:
    status, told = served.ask(method, path, body, token)
    assert 200 <= status < 300, (method, path, status, json.dumps(told)[:500])
    return told
