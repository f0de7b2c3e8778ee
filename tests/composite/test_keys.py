"""An event with several values takes part in many combinations of them, but not in too many."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.composite.random_composites import Scene, scenes
from tests.composite.test_detector import check
from tidings.composite.leaf_plan import LeafPlan
from tidings.composite.stored import dump_matches, load_matches
from tidings.composite.trace import MOST_KEYS, keys_of
from tidings.language.composites import BoundComposite
from tidings.schema.catalog import Catalog

_NAMES = ("a", "b", "c", "d", "e", "f")
_SCHEMA = Catalog.from_dict(
    {
        "domains": [{"name": "number", "kind": "numeric"}],
        "attributes": [{"name": name, "domain": "number"} for name in _NAMES],
        "event_types": [{"name": "t", "attributes": [{"name": name, "unique": False} for name in _NAMES]}],
    }
)


def test_keys_are_combinations_in_the_order_of_the_values() -> None:
    assert keys_of([]) == ([()], 0)
    assert keys_of([(1, 2), ("x",)]) == ([(1, "x"), (2, "x")], 0)
    assert keys_of([(1, 2), ()]) == ([], 0)
    kept, left_out = keys_of([range(1_000), range(1_000), range(1_000)])
    assert (kept[0], kept[-1], len(kept), left_out) == ((0, 0, 0), (0, 0, 999), 1_000, 10**9 - 1_000)


def test_one_event_gives_a_composite_few_matches_whatever_its_values() -> None:
    plan = LeafPlan(_SCHEMA)
    text = f"[a > 0] before [a < 0] within 1 h by {', '.join(_NAMES)}"
    plan.add("poisoned", BoundComposite.parse(text, _SCHEMA), 0)
    plan.add("alone", BoundComposite.parse("[a > 0] before [a < 0] within 1 h by a", _SCHEMA), 0)
    bound = {name: tuple(range(1, 9)) for name in _NAMES}
    found = plan.matches(1, "", "e", bound, [plan.filters.index(one) for one in plan.filters if one.text == "a > 0"])
    assert [len([one for one in found if one.key.composite == id]) for id in ("poisoned", "alone")] == [MOST_KEYS, 8]
    assert sum(one.left_out for one in found) == 8**6 - MOST_KEYS
    assert load_matches(dump_matches(found)) == found


@settings(max_examples=40, deadline=None)
@given(scenes())
def test_detector_and_oracle_leave_out_the_same_keys(scene: Scene) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tidings.composite.trace.MOST_KEYS", 1)
        check(scene)
