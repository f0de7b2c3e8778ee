"""How long pages take with many subscriptions and notifications: `python -m tests.service.pages.measure`."""

import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import httpx

from tests.service.conftest import SETTINGS, Service, car
from tests.service.delivering import deliver
from tests.service.pages.visitor import Visitor
from tidings.settings import SCOPES
from tidings.store import AttemptResult, Publish, StoredChannel, Subscribe
from tidings.store.clock.clock import now
from tidings.store.tables import notices

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
    Visitor(service).join("ann")
    service.store.change_account("ann", None, frozenset(SCOPES))
    service.gateway.callers.forget()
    ann = Visitor(service).log_in("ann")
    ids = [f"s-{number:05}" for number in range(SUBSCRIPTIONS)]
    for start in range(0, SUBSCRIPTIONS, 1_000):
        some = range(start, start + 1_000)
        service.store.append(
            [Subscribe(ids[n], f"brand = 'mini' and year < {n}", "ann", None, "webhook") for n in some]
        )
    for id in ids:
        service.store.set_channel(StoredChannel(id, "ann", "webhook", {"url": f"https://h{id}.example/"}))
    first = service.store.tail() + 1
    for start in range(0, EVENTS, 2_000):
        service.store.append([Publish(car(f"e{n}", year=1900 + n % 120)) for n in range(start, start + 2_000)])
    each = NOTIFICATIONS // EVENTS
    # Half of them of one subscription, which so has a long list of its own.
    matches = [
        (first + n, [ids[0], *(ids[(n * each + k) % SUBSCRIPTIONS] for k in range(1, each))]) for n in range(EVENTS)
    ]
    service.commit(1, service.store.tail(), matches)
    deliver(service)
    _fail(service, ids[0])
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
    pages += ["/pages/account", "/pages/publish?type=car", "/pages/publish?type=auction"]
    for state in ("", "dead", "delivered"):
        pages.append(f"/pages/subscriptions/s-00000/deliveries?state={state}")
    pages += ["/pages/notices", "/pages/notices?before=5000", "/pages/operator", "/pages/operator/now"]
    ann.get("/")
    headers = {"X-Form-Proof": ann.tree.find("body").get("data-proof")}
    for _ in range(3):
        began = time.perf_counter()
        answer = ann.client.post("/pages/filter/count", json={"text": "year > 1950 and year < 1960"}, headers=headers)
        print(f"{(time.perf_counter() - began) * 1000:7.1f} ms  counting {answer.json()}")
    for page in pages:
        _time(ann.client, page)
    guest = service.anonymous()
    _time(guest, "/", " (a guest)")


def _time(client: httpx.Client, page: str, who: str = "") -> None:
    seconds = []
    worked = time.process_time()  # of server and client together: what a quiet machine would need
    for _ in range(10):
        began = time.perf_counter()
        answer = client.get(page)
        seconds.append(time.perf_counter() - began)
        assert answer.status_code == 200, (page, answer.text)
    worked = (time.process_time() - worked) / len(seconds)
    taken = f"{statistics.median(seconds) * 1000:7.1f} ms  at most {max(seconds) * 1000:7.1f} ms"
    print(f"{taken}  processor {worked * 1000:6.1f} ms  {page}{who}")
    sys.stdout.flush()


def _fail(service: Service, id: str) -> None:
    """A few of many deliveries failed for good, and there are as many notices as subscriptions."""
    moment = now()
    assert service.store.take_lease("test", 60)
    numbers = [one.number for one in service.store.deliveries_of(id, "ann", limit=100, newest=False)]
    failed = [AttemptResult(number, 0, moment, 0.5, False, "POST", 503, "no", "503") for number in numbers]
    service.store.record_results("test", failed, moment, lambda *_: "")
    assert service.store.take_lease("test", 0)
    with service.store.database.writing("outbox") as connection:
        rows = ((n + 1, "ann", f"s-{n:05}", "a channel was disabled", int(moment), n % 2) for n in range(SUBSCRIPTIONS))
        service.store.database.dialect.insert(connection, notices, rows)


if __name__ == "__main__":
    main()
