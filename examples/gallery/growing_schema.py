"""A schema that grows while subscriptions stand: nothing is removed, nothing is restarted, nobody subscribes again.

A flea market opens with furniture. Then come sofas, then bicycles, then a colour for both; the filters of the first day
go on to mean what they meant, and `category under furniture` hears of the first sofa.
"""

from typing import Any

import tidings
from tidings.errors import SchemaError
from tidings.schema import json_form
from tidings.schema.growth import grow

SCHEMA = tidings.Schema.from_dict(
    {
        "domains": [
            {"name": "money", "kind": "numeric"},
            {"name": "category", "kind": "hierarchical", "tree": {"furniture": {"table": {}, "chair": {}}}},
        ],
        "attributes": [{"name": "price", "domain": "money"}, {"name": "category", "domain": "category"}],
        "event_types": [{"name": "offer", "attributes": [{"name": "price"}, {"name": "category"}]}],
    }
)
STANDING = {"ann": "category under furniture", "bob": "not (category under furniture)", "cleo": "price < 30"}
EXTEND = {"change": "extend_event_type", "event_type": "offer"}
SOFA = {"price": 80, "category": "sofa"}
STEPS: list[tuple[dict[str, Any], dict[str, Any] | None]] = [
    ({"change": "append_node", "domain": "category", "node": "sofa", "parent": "furniture"}, SOFA),
    ({"change": "append_node", "domain": "category", "node": "bicycle"}, {"price": 25, "category": "bicycle"}),
    ({"change": "create_domain", "domain": {"name": "colour", "kind": "enumerated", "values": ["red"]}}, None),
    ({"change": "create_attribute", "attribute": {"name": "colour", "domain": "colour"}}, None),
    ({**EXTEND, "attribute": {"name": "colour", "mandatory": True}}, SOFA),
    ({**EXTEND, "attribute": {"name": "colour"}}, {"price": 20, "category": "sofa", "colour": "red"}),
]


def offer(matcher: tidings.Matcher, attributes: dict[str, Any]) -> None:
    try:
        print(f"  {attributes} → tell {', '.join(matcher.match_one(attributes))}")
    except tidings.RefusedEvent as refused:
        print(f"  {attributes} refused: {refused.errors[0].message}")


def main() -> None:
    matcher = tidings.Matcher(SCHEMA)
    matcher.add_many(STANDING)
    offer(matcher, SOFA)
    for change, attributes in STEPS:
        try:
            matcher.adopt(grow(matcher.schema, json_form.read_change(change)))
            print(f"version {matcher.schema.version}: {change['change']}")
        except SchemaError as problem:
            print(f"still version {matcher.schema.version}: {problem}")
        if attributes is not None:
            offer(matcher, attributes)
    matcher.add("dan", "colour = red")
    offer(matcher, {"price": 15, "category": "chair", "colour": "red"})


if __name__ == "__main__":
    main()
