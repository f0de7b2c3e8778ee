"""Example filters: legal, short, and each fits an event that really came."""

import json

from tidings.events import Event
from tidings.language import Filter
from tidings.matching.naive import matches
from tidings.schema import json_form
from tidings.service.pages.parts.examples import example_filters, read_example
from tidings.store.pages.recent import Seen


def test_examples_are_legal_and_fit_the_event_they_were_made_from() -> None:
    schema = {
        "domains": [
            {"name": "n", "kind": "numeric"},
            {"name": "t", "kind": "text"},
            {"name": "h", "kind": "hierarchical", "tree": {"it's": {"a b": {"or": {}}}}},
            {"name": "only", "kind": "numeric", "operators": ["="]},
        ],
        "attributes": [{"name": name, "domain": name} for name in ("n", "t", "h", "only")],
        "event_types": [{"name": "x", "attributes": [{"name": "n"}]}, {"name": "y 'z'", "attributes": []}],
    }
    catalog = json_form.read(json.dumps(schema))
    told = "a wonderful day's work and so on"
    values = (("h", ("or",)), ("n", (-0.25,)), ("only", (3,)), ("t", (told,)))
    events = [Event("e1", ("x",), values), Event("e2", ("y 'z'",)), Event("e3", ("x",), (("n", (1e300,)),))]
    found = example_filters(catalog, events)
    assert len(found) == 3
    assert len(set(found)) == 3
    for text in found:
        filter = Filter.parse(text, catalog)
        assert filter.text == text
        assert any(matches(filter.tree, event.bindings(), catalog) for event in events), text
    assert example_filters(catalog, []) == []


def test_an_example_from_stored_events_passes_over_what_cannot_be_read() -> None:
    schema = {
        "domains": [{"name": "n", "kind": "numeric"}, {"name": "c", "kind": "enumerated", "values": ["red", "blue"]}],
        "attributes": [{"name": name, "domain": name} for name in ("n", "c")],
        "event_types": [{"name": "x", "attributes": [{"name": "n"}, {"name": "c"}]}],
    }
    catalog = json_form.read(json.dumps(schema))
    read = Seen(1, {"id": "e1", "event_type": ["x"], "attributes": {"n": 3, "c": "red"}})
    removed, younger = Seen(2, None), Seen(3, {"id": "e3", "event_type": ["y"], "attributes": {"n": 5, "c": "blue"}})
    large = Seen(4, {"id": "e4", "event_type": ["x"], "attributes": {"n": 4, "c": "blue"}}, size=1 << 20)
    assert read_example(catalog, [large, younger, removed, read]) == "c = 'red' and n >= 3"
    assert read_example(catalog, [large, younger, removed]) == ""
