"""The quick look decides the usual events and doubts every other; it never accepts what `validate` refuses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events.examples import ANTIQUE_CAR as CATALOG
from tidings.events import RefusedEvent, validate
from tidings.events.quick_look import QuickLook

GOOD: dict[str, Any] = {
    "id": "e1",
    "event_type": ["antique", "car"],
    "attributes": {"price": 1300, "period": 1970, "quantity": 1, "brand": "cooper", "cc": 1000},
}


def changed(**attributes: Any) -> dict[str, Any]:
    return GOOD | {"attributes": GOOD["attributes"] | attributes}


def test_the_usual_event_is_decided() -> None:
    bound = QuickLook(CATALOG).bindings(GOOD)
    assert bound is not None
    assert {name: value if isinstance(value, tuple) else (value,) for name, value in bound} == validate(
        GOOD, CATALOG
    ).bindings()


WITHOUT_QUANTITY = {name: value for name, value in GOOD["attributes"].items() if name != "quantity"}


BROKEN: dict[str, dict[str, Any]] = {
    "mandatory": GOOD | {"attributes": WITHOUT_QUANTITY},
    "unique": changed(price=[1300, 1400]),
    "empty": changed(price=[]),
    "boolean": changed(price=True),
    "beyond 2^53": changed(price=2**53 + 1),
    "infinite": changed(price=float("inf")),
    "number as text": changed(price="1300"),
    "unknown word": changed(brand="horch"),
    "view": changed(weight=3),
    "empty id": GOOD | {"id": ""},
    "id": GOOD | {"id": 5},
    "type": GOOD | {"event_type": ["antique", "boat"]},
    "no type": GOOD | {"event_type": []},
    "time": GOOD | {"time": "yesterday"},
    "source": GOOD | {"source": 5},
    "unknown member": GOOD | {"colour": "red"},
    "no attributes": GOOD | {"attributes": None},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_refused_event_is_doubted(name: str) -> None:
    with pytest.raises(RefusedEvent):
        validate(BROKEN[name], CATALOG)
    assert QuickLook(CATALOG).bindings(BROKEN[name]) is None
