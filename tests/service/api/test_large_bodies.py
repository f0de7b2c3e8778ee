"""Large bodies of JSON are decoded beside the event loop, and none has more than an event and a filter."""

import threading
from typing import Any

import msgspec
import pytest

from tests.service.conftest import Service, on_sqlite
from tidings.service.api import shapes

JSON = {"Content-Type": "application/json"}


@on_sqlite
def test_only_small_bodies_are_decoded_in_the_event_loop(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    decode = shapes.decoded

    def noting(body: bytes, shape: Any) -> Any:
        threads.append(threading.current_thread().name.rpartition("_")[0])
        return decode(body, shape)

    monkeypatch.setattr(shapes, "decoded", noting)
    for length in (10, 20_000):
        service.client.post("/v1/filters/test", json={"filter": "x" * length})
        service.client.post("/v1/subscriptions", json={"filter": "x" * length})
    assert threads == [""] * 2 + ["tidings-reading"] * 2


@on_sqlite
@pytest.mark.parametrize("address", ["/v1/filters/explain", "/v1/subscriptions"])
def test_a_body_of_more_than_an_event_and_a_filter_is_refused_before_it_is_decoded(
    service: Service, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    def never(body: bytes, shape: Any) -> Any:
        raise AssertionError(len(body))

    monkeypatch.setattr(shapes, "decoded", never)
    body = msgspec.json.encode({"filter": "price < 5", "event": {"attributes": {"price": [1] * 1_000_000}}})
    answer = service.client.post(address, content=body, headers=JSON)
    assert answer.status_code == 413
    assert "larger than 1,310,720 bytes" in answer.json()["detail"]
