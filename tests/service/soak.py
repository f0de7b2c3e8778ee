"""Every page and every look of an operator on a service with ten million notifications, each within 300 ms.

`python -m tests.service.soak [sqlite|postgresql] [SHARE]` builds the store by SQL, starts the service on it and asks
for each page some times, first of all cold; it ends with 1 where one took longer. SHARE of 0.01 has a hundredth of all.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.service.conftest import PASSWORD, SETTINGS, Service
from tests.service.pages.visitor import Visitor
from tests.services.postgresql import postgresql
from tests.services.sqlite import new_store
from tests.store.large_store import Size, fill, owner, subscription
from tidings.settings import SCOPES
from tidings.store import Store
from tidings.store.clock.clock import now

LIMIT = 0.3  # seconds
TIMES = 5
MILLION = 1_000_000


def size(share: float) -> Size:
    def of(count: int) -> int:
        return int(count * share)

    return Size(
        subscriptions=of(MILLION),
        withdrawn=of(MILLION),
        events=of(MILLION),
        notifications=of(10 * MILLION),
        channels=of(MILLION),
        deliveries=of(400_000),
        due=of(100_000),
        letters=of(100_000),
        owners=10,
        removed=of(MILLION),
        busy=10,
    )


def pages(size: Size) -> list[str]:
    mine, event = subscription(0), size.tail - 3
    of_mine = f"/pages/subscriptions/{mine}"
    return [
        "/",
        "/pages/now",
        "/pages/subscriptions",
        f"/pages/subscriptions?before={size.first_subscription + size.subscriptions // 2}",
        "/pages/subscriptions?q=price",
        "/pages/subscriptions?q=nothing",
        "/pages/subscriptions?state=paused",
        "/pages/subscriptions/new",
        of_mine,
        f"{of_mine}?before={size.notifications // 2}",
        f"{of_mine}/newer?after={size.notifications - 100}",
        f"{of_mine}/lately",
        f"{of_mine}/edit",
        f"{of_mine}/channel",
        *(f"{of_mine}/deliveries?state={state}" for state in ("", "due", "delivered", "dead")),
        "/pages/events?filter=price+%3C+100",
        f"/pages/events/{event}",
        "/pages/schema",
        "/pages/schema/history",
        "/pages/publish?type=car",
        "/pages/account",
        "/pages/notices",
        "/pages/notices?before=500",
        "/pages/operator",
        "/pages/operator/now",
    ]


def routes(size: Size) -> list[str]:
    mine = f"/v1/subscriptions/{subscription(0)}"
    return [
        "/healthz",
        "/readyz",
        "/metrics",
        "/v1/accounts/me",
        "/v1/tokens",
        "/v1/schema",
        "/v1/schema/history",
        "/v1/subscriptions",
        mine,
        f"{mine}/channel",
        f"{mine}/notifications",
        f"{mine}/deliveries",
        f"{mine}/deliveries?state=dead",
        f"{mine}/deliveries/1",
        "/v1/notifications",
        f"/v1/notifications?after={size.notifications - 1_000}",
        f"/v1/events/{size.tail - 3}",
        "/v1/notices",
        "/v1/operator/channels",
    ]


def main(database: str, share: float) -> int:
    made = size(share)
    with large(database, made) as (url, folder):
        service = Service(url, replace(SETTINGS, store=url, data=folder))
        service.start()
        try:
            return measure(service, made)
        finally:
            service.stop()


@contextmanager
def large(database: str, made: Size) -> Iterator[tuple[str, Path]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if database == "sqlite":
            url = str(new_store(folder / "tidings.db"))
            build(url, made)
            yield url, folder
            return
        with postgresql() as server:
            url = server.store()
            build(url, made)
            yield url, folder


def build(url: str, made: Size) -> None:
    began = time.perf_counter()
    with Store.open(url) as store:
        fill(store, made, now())
    print(f"built in {time.perf_counter() - began:.0f} s: {made}", flush=True)


def measure(service: Service, made: Size) -> int:
    who = owner(0)
    Visitor(service).join(who)
    service.store.change_account(who, None, frozenset(SCOPES))
    service.gateway.callers.forget()
    visitor = Visitor(service).log_in(who)
    token = service.anonymous()
    token.headers["Authorization"] = f"Bearer {logged_in(service, who)}"
    slow = 0
    print("| first | median | longest | what |\n|---|---|---|---|")
    for client, asked in ((visitor.client, pages(made)), (token, routes(made)), (service.anonymous(), ["/"])):
        for one in asked:
            service.store.take_lease("soak", 300)  # nobody sends what waits, but `/readyz` is to be ready
            taken = []
            for _ in range(TIMES + 1):
                began = time.perf_counter()
                answer = client.get(one)
                taken.append(time.perf_counter() - began)
                assert answer.status_code == 200, (one, answer.status_code, answer.text[:500])
                time.sleep(1.1 if one in ("/readyz", "/metrics") else 0)  # figures are kept for a second
            first, *again = taken
            median, longest = sorted(again)[TIMES // 2], max(taken)
            slow += longest > LIMIT
            mark = " **slow**" if longest > LIMIT else ""
            print(
                f"| {first * 1e3:.0f} ms | {median * 1e3:.0f} ms | {longest * 1e3:.0f} ms{mark} | {one} |", flush=True
            )
    return int(slow > 0)


def logged_in(service: Service, who: str) -> str:
    answer = service.anonymous().post("/v1/tokens", json={"username": who, "password": PASSWORD, "name": "soak"})
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["token"]
    return found


if __name__ == "__main__":
    given = [*sys.argv[1:], *("sqlite", "1")[len(sys.argv) - 1 :]]
    sys.exit(main(given[0], float(given[1])))
