"""How long pages take with many subscriptions and notifications: `python -m tests.service.pages.measure`."""

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.service.conftest import SETTINGS, Service, car
from tests.service.pages.visitor import Visitor
from tidings.store import Publish, Subscribe

SUBSCRIPTIONS, NOTIFICATIONS, EVENTS = 10_000, 100_000, 20_000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = str(Path(folder) / "tidings.db")
        service = Service(url, replace(SETTINGS, store=url, data=Path(folder)))
        service.start()
        try:
            _measure(service)
        finally:
            service.stop()


def _measure(service: Service) -> None:
    ann = Visitor(service).join("ann")
    ids = [f"s-{number:05}" for number in range(SUBSCRIPTIONS)]
    for start in range(0, SUBSCRIPTIONS, 1_000):
        some = range(start, start + 1_000)
        service.store.append([Subscribe(ids[n], f"brand = 'mini' and year < {n}", "ann") for n in some])
    first = service.store.tail() + 1
    for start in range(0, EVENTS, 2_000):
        service.store.append([Publish(car(f"e{n}", year=1900 + n % 120)) for n in range(start, start + 2_000)])
    each = NOTIFICATIONS // EVENTS
    # Half of them of one subscription, which so has a long list of its own.
    matches = [
        (first + n, [ids[0], *(ids[(n * each + k) % SUBSCRIPTIONS] for k in range(1, each))]) for n in range(EVENTS)
    ]
    service.commit(1, service.store.tail(), matches)
    found = ann.client.get("/pages/subscriptions/s-00000").text
    older = found.partition("?before=")[2].partition('"')[0]
    pages = [
        "/",
        "/pages/now",
        "/pages/subscriptions",
        "/pages/subscriptions?before=5000",
        "/pages/subscriptions?q=1234",
    ]
    pages += ["/pages/subscriptions?state=paused", "/pages/subscriptions/s-00000", "/pages/subscriptions/s-04711"]
    pages += [f"/pages/subscriptions/s-00000?before={older}", "/pages/subscriptions/s-00000?before=2000"]
    pages += [f"/pages/events/{first + 7}", "/pages/subscriptions/new", "/pages/schema", "/pages/schema/history"]
    pages += ["/pages/account", "/pages/publish?type=car"]
    ann.get("/")
    headers = {"X-Form-Proof": ann.tree.find("body").get("data-proof")}
    for _ in range(3):
        began = time.perf_counter()
        answer = ann.client.post("/pages/filter/count", json={"text": "year > 1950 and year < 1960"}, headers=headers)
        print(f"{(time.perf_counter() - began) * 1000:7.1f} ms  counting {answer.json()}")
    for page in pages:
        seconds = []
        for _ in range(10):
            began = time.perf_counter()
            answer = ann.client.get(page)
            seconds.append(time.perf_counter() - began)
            assert answer.status_code == 200, (page, answer.text)
        print(f"{statistics.median(seconds) * 1000:7.1f} ms  at most {max(seconds) * 1000:7.1f} ms  {page}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
