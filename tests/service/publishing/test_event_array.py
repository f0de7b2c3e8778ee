"""An array may not hold more than memory and one thread can bear."""

import httpx
import pytest

from tests.service.conftest import car, on_sqlite


@on_sqlite
@pytest.mark.parametrize(("limit", "most"), [("MOST_EVENTS", 2), ("_MOST_VALUES", 20)])
def test_an_array_has_a_limit_of_events_and_of_values(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(f"tidings.service.publishing.event_array.{limit}", most)
    fits, too_many = ([car(f"e{number}") for number in range(count)] for count in (2, 9))
    assert client.post("/v1/events", json=fits).json()["accepted"] == 2
    answer = client.post("/v1/events", json=too_many)
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/too-many-events")
