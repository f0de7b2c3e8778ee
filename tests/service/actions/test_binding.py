"""Filters that take long to bind hold up nobody: not who publishes, not who reads, not another account's filters."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.service.conftest import Service, car, on_sqlite
from tidings.language import Filter
from tidings.schema import Catalog
from tidings.service.actions import filters, subscription_import
from tidings.store import Store

LINES = {"content-type": "application/x-ndjson"}
SLOW = "price < 77"


def lines(*texts: str) -> bytes:
    return b"".join(json.dumps({"filter": text}).encode() + b"\n" for text in texts)


@on_sqlite
def test_slow_filters_of_one_account_hold_up_nobody(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    began, go_on, read = threading.Event(), threading.Event(), filters.read_filter

    def slowly(text: str, store: Store, catalog: Catalog | None = None) -> Any:
        if text == SLOW:
            began.set()
            assert go_on.wait(60)
        return read(text, store, catalog)

    monkeypatch.setattr(filters, "read_filter", slowly)
    hostile, other = service.joined("hostile"), service.joined("other")
    posted = {"filter": SLOW}
    with ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(hostile.post, "/v1/subscriptions", json=posted) for _ in range(4)]
        checks = "/v1/subscriptions/import?check=true"
        waiting += [threads.submit(hostile.post, checks, content=lines(SLOW), headers=LINES) for _ in range(4)]
        try:
            assert began.wait(30)
            for _ in range(4):
                assert other.post("/v1/events", json=car(None), timeout=20).status_code == 202
            assert service.joined("newcomer").get("/v1/accounts/me", timeout=20).status_code == 200
            assert other.post("/v1/subscriptions", json={"filter": "price < 5"}, timeout=20).status_code == 201
            assert not any(one.done() for one in waiting)
        finally:
            go_on.set()
        assert {one.result(30).status_code for one in waiting} == {200, 201}


@on_sqlite
def test_the_journal_binds_no_filter_of_a_request(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    bound_by = set[str]()
    given = Filter.given

    def noting(text: str, catalog: Catalog) -> Filter:
        bound_by.add(threading.current_thread().name.rpartition("_")[0])
        return given(text, catalog)

    monkeypatch.setattr(Filter, "given", noting)
    made = service.client.post("/v1/subscriptions", json={"filter": "price<5"})
    assert made.status_code == 201, made.text
    changed = service.client.patch(f"/v1/subscriptions/{made.json()['id']}", json={"filter": "price<6"})
    assert changed.json()["filter"] == "price < 6"
    found = service.client.post("/v1/subscriptions/import", content=lines("price<7"), headers=LINES).json()
    assert found["accepted"] == 1
    assert service.client.get(f"/v1/subscriptions/{found['results'][0]['id']}").json()["filter"] == "price < 7"
    assert bound_by == {"tidings-binding"}


@on_sqlite
def test_a_request_binds_a_bounded_number_of_predicates(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscription_import, "_MOST_PREDICATES", 3)
    monkeypatch.setattr(subscription_import, "_CHARACTERS_AT_ONCE", 10)  # also where lines come in groups
    two = "price < {} and year < 5"
    body = lines(*(two.format(place) for place in range(4)))
    answer = service.client.post("/v1/subscriptions/import", content=body, headers=LINES)
    assert [one["status"] for one in answer.json()["results"]] == ["accepted", "accepted", "refused", "refused"]
    assert answer.json()["results"][2]["problem"]["detail"] == (
        "the filters before this line have 3 predicates, written out as alternatives; send the rest in another request"
    )
