"""The leaves of many composites, which share their filters."""

from __future__ import annotations

from tests.composite.notation import SCHEMA, composite_of
from tidings.composite.leaf_plan import LeafPlan


def test_a_leaf_of_many_composites_is_matched_once() -> None:
    plan = LeafPlan(SCHEMA)
    patterns = {
        "pair": "[A] before [B] within 1 h",
        "again": "[B] unless [A] within 1 h by user",
        "row": "[A]{3} before [B] within 1 h",
    }
    for id, pattern in patterns.items():
        plan.add(id, composite_of(pattern), 0)
    assert [one.text for one in plan.filters] == ["event_type contains 'A'", "event_type contains 'B'"]
    found = plan.matches(1, "", "e", {"user": ("x",)}, [0])
    assert {(one.key.composite, one.key.values, one.leaves) for one in found} == {
        ("pair", (), (0,)),
        ("again", ("x",), (1,)),
        ("row", (), (0, 1, 2)),
    }
    plan.remove("pair")
    assert {one.key.composite for one in plan.matches(1, "", "e", {"user": ("x",)}, [0])} == {"again", "row"}
