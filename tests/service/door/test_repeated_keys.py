"""A key twice in one object of JSON: refused wherever JSON comes in."""

from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.service.conftest import on_sqlite
from tidings.service.api.shapes import WrongBody, decoded
from tidings.service.door.repeated_keys import may_repeat, repeated_key

TWICE = '{"id": "e1", "event_type": "car", "attributes": {"year": 1990, "brand": "mini", "year" : 1991}}'
LINES = {"Content-Type": "application/x-ndjson"}
JSON = {"Content-Type": "application/json"}


@on_sqlite
def test_one_event(client: httpx.Client) -> None:
    answer = client.post("/v1/events", content=TWICE, headers=JSON)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-body")
    assert "the key 'year' occurs twice" in answer.json()["detail"]


@on_sqlite
def test_a_line_and_its_neighbours(client: httpx.Client) -> None:
    fine = '{"id": "%s", "event_type": "car", "attributes": {"year": 1990, "brand": "mini"}}'
    answer = client.post("/v1/events", content="\n".join([fine % "a", TWICE, fine % "b"]), headers=LINES).json()
    assert answer["accepted"] == 2
    assert [one["line"] for one in answer["results"] if "errors" in one] == [2]
    assert "the key 'year' occurs twice" in answer["results"][1]["errors"][0]["message"]


@on_sqlite
def test_another_request(client: httpx.Client) -> None:
    answer = client.post("/v1/subscriptions", content='{"filter": "price > 1", "filter": "price > 2"}', headers=JSON)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-body")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": ":", "b": "\\":"}',
        '{"a" : {"a" : 1}}',
        '[{"a": 1}, {"a": 1}]',
        '{"a": [{"b": {"c": {"d": 1}}}]}',
        '"\\":"',
        "{}",
    ],
)
def test_what_only_looks_so(text: str) -> None:
    decoded(text.encode(), Any)


keys = st.sampled_from(["a", "b", '":', " :", "\u00e9"])
values = st.recursive(
    st.sampled_from(["1", '"x"', '":"', '"\\":"']),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{','.join(items)}]"),
        st.lists(st.tuples(keys, st.sampled_from([":", ": ", " :", "\n:"]), inner), max_size=3).map(
            lambda pairs: "{" + ",".join(f"{_quoted(key)}{colon}{value}" for key, colon, value in pairs) + "}"
        ),
    ),
    max_leaves=8,
)


def _quoted(key: str) -> str:
    return '"' + key.replace('"', '\\"') + '"'


@given(values)
def test_the_quick_look_misses_none(text: str) -> None:

    body = text.encode()
    value = msgspec.json.decode(body)
    if repeated_key(body) is not None:
        assert may_repeat(body, value if type(value) is list else [value])
        with pytest.raises(WrongBody):
            decoded(body, Any)
    else:
        decoded(body, Any)
