from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest
from hypothesis import given

from tests.schema.samples import LE_SUBSCRIBE, THESIS
from tests.strategies.schemas import catalogs
from tidings.errors import SchemaError
from tidings.schema import AttributeUse, Kind, json_form
from tidings.schema.catalog import InvalidSchema
from tidings.schema.growth import AppendNode, AppendValue, ExtendEventType
from tidings.schema.hierarchy import NO_PARENT, TooDeep
from tidings.schema.json_form import SchemaForm

ARCHITECTURE = """
{"domains": [{"name": "money", "kind": "numeric", "operators": ["=", "<", "<=", ">", ">="]},
             {"name": "brand", "kind": "enumerated", "values": ["opel", "mini"], "ordered": false},
             {"name": "category", "kind": "hierarchical",
              "tree": {"furniture": {"table": {"dining table": {}}}}}],
 "attributes": [{"name": "price", "domain": "money"}],
 "event_types": [{"name": "car", "attributes": [{"name": "price", "mandatory": true, "unique": true}]}]}
"""


def test_the_form_of_the_design_is_read():  # architecture, file forms
    catalog = json_form.read(ARCHITECTURE)
    money, brand, category = catalog.domains
    assert money.operators == ("=", "<", "<=", ">", ">=")
    assert (brand.values, brand.operators) == (("opel", "mini"), ("=", "!="))
    assert category.hierarchy.names == ("furniture", "table", "dining table")
    assert catalog.view(["car"]).uses == {"price": AttributeUse("price")}
    assert catalog.version == 1


def test_bytes_text_a_byte_order_mark_and_parsed_json_are_all_read():
    expected = json_form.read(ARCHITECTURE)
    assert json_form.read(ARCHITECTURE.encode()) == expected
    assert json_form.read(ARCHITECTURE.encode("utf-8-sig")) == expected
    assert json_form.read("\ufeff" + ARCHITECTURE) == expected
    assert json_form.read(json.loads(ARCHITECTURE)) == expected


@pytest.mark.parametrize("catalog", [THESIS, LE_SUBSCRIBE], ids=["thesis 3.1", "Le Subscribe 2.1"])
def test_the_papers_schemas_round_trip(catalog):
    assert json_form.read(json.dumps(json_form.write(catalog))) == catalog


@given(catalogs())
def test_every_catalog_round_trips(catalog):
    copy = json_form.read(json.dumps(json_form.write(catalog)))
    assert (copy, copy.version) == (catalog, catalog.version)


def domain_with(**members: object) -> str:
    return json.dumps({"domains": [{"name": "d", "kind": "numeric"} | members]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected an object, got []"),
        ("{,}", "line 1, column 2: not JSON"),
        ('{"domains": [],\n "atributes": []}', "no member 'atributes'; did you mean 'attributes'?"),
        ('{"domains": [], "domains": []}', "the member 'domains' occurs twice"),
        ('{"domains": {}}', "domains: expected a list, got {}"),
        ('{"domains": [7]}', "domains[0]: expected an object, got 7"),
        ('{"version": 0}', "version: expected a positive integer, got 0"),
        ('{"version": true}', "version: expected a positive integer, got true"),
        ('{"version": NaN}', "NaN is not a number"),
        ('{"version": -Infinity}', "-Infinity is not a number"),
        ('{"version": 1e999}', "expected a positive integer, got inf"),
        (f'{{"version": {"9" * 5000}}}', "a number in the JSON is too long"),
        (domain_with(kind="numerik"), "domains[0] 'd': no kind 'numerik'; did you mean 'numeric'?"),
        (domain_with(kind=None), "'kind' is missing"),
        (domain_with(name=7), "'name' must be text, got 7"),
        (domain_with(name=""), "'name' must not be empty"),
        (domain_with(values=["a"]), "'values' belongs to enumerated domains; this one is numeric"),
        (domain_with(tree={}), "'tree' belongs to hierarchical domains; this one is numeric"),
        (domain_with(ordered=True), "'ordered' belongs to enumerated domains; this one is numeric"),
        (domain_with(operators="="), "'operators' must be a list of texts, got '='"),
        (domain_with(operators=["contains"]), "a numeric domain cannot allow 'contains'; it may allow ="),
        (domain_with(kind="enumerated", values=["a", 7]), "'values' must be a list of texts"),
        (domain_with(kind="enumerated", values=["a", "a"]), "the value 'a' is listed twice"),
        (domain_with(kind="enumerated", values=["\ud800"]), "unpaired surrogate"),
        (domain_with(kind="enumerated", ordered="yes"), "'ordered' must be True or False, got 'yes'"),
        (domain_with(kind="hierarchical", tree=["a"]), "'tree' is made of nested objects, got ['a']"),
        (domain_with(kind="hierarchical", tree={"a": "b"}), "'tree' is made of nested objects, got 'b'"),
        (domain_with(kind="hierarchical", tree={"a": {"b > c": {}}}), "'b > c' cannot name a node"),
        (domain_with(kind="numeric", open=True), "'open' belongs to enumerated domains; this one is numeric"),
        (
            domain_with(kind="enumerated", values=[], ordered=True, open=True),
            "'open' belongs to unordered enumerated domains; this one is ordered enumerated",
        ),
        (
            '{"domains": [{"name": "d", "kind": "hierarchical", "tree": {"a": {}, "a": {}}}]}',
            "'a' occurs twice",
        ),
        ('{"attributes": [{"name": "price", "domain": "money"}]}', "attribute 'price': no domain 'money'"),
        ('{"event_types": [{"name": "car", "attributes": 7}]}', "'attributes' must be a list, got 7"),
        (
            '{"event_types": [{"name": "car", "attributes": [{"name": "p"}]}]}',
            "event type 'car': no attribute 'p'",
        ),
        (
            '{"event_types": [{"name": "car", "attributes": [{"name": "p", "mandatory": 1}]}]}',
            "event_types[0] 'car', attribute 0: 'mandatory' must be True or False, got 1",
        ),
        (domain_with(name="x" * 201), "a name is text of 1 to 200 printable characters"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(text, message):
    with pytest.raises(SchemaError) as caught:
        json_form.read(text)
    assert message in str(caught.value)


def test_everything_wrong_is_listed_at_once():
    with pytest.raises(InvalidSchema) as caught:
        json_form.read('{"domains": [7, {"name": "d", "kind": "x"}], "attributes": [8]}')
    assert [type(problem) for problem in caught.value.problems] == [SchemaForm] * 3


def test_what_seems_to_dangle_because_its_declaration_is_unreadable_is_not_reported():
    with pytest.raises(InvalidSchema) as caught:
        json_form.read('{"domains": [{"name": "d", "kind": "x"}], "attributes": [{"name": "a", "domain": "d"}]}')
    assert len(caught.value.problems) == 1


def test_bytes_that_are_no_utf8_are_refused():
    with pytest.raises(SchemaForm, match="byte 2: not UTF-8 text"):
        json_form.read(b'{"\xff": 1}')


@pytest.mark.parametrize("depth", [300, 900, *range(960, 1000), 10_000])
def test_deep_json_is_refused_and_never_exhausts_the_stack(depth):
    tree = "".join(f'{{"n{number}": ' for number in range(depth)) + "{}" + "}" * depth
    nested = "[" * depth + "]" * depth
    for text in (
        f'{{"domains": [{{"name": "d", "kind": "hierarchical", "tree": {tree}}}]}}',
        f'{{"domains": [{nested}]}}',
        f'{{"version": {nested}}}',
        f'{{"domains": [{{"name": {nested}}}]}}',
    ):
        with pytest.raises(SchemaError) as caught:
            json_form.read(text)
        assert str(caught.value)


def test_deep_mappings_are_refused_too():
    tree: dict[str, object] = {}
    for number in range(10_000):
        tree = {f"n{number}": tree}
    with pytest.raises(InvalidSchema) as caught:
        json_form.read({"domains": [{"name": "d", "kind": "hierarchical", "tree": tree}]})
    assert isinstance(caught.value.problems[0], TooDeep)
    with pytest.raises(InvalidSchema, match="nested too deeply to show"):
        json_form.read({"domains": [{"name": "d", "kind": "enumerated", "values": [tree]}]})


def test_a_mapping_within_itself_is_too_deep():
    tree: dict[str, object] = {}
    tree["a"] = tree
    with pytest.raises(InvalidSchema) as caught:
        json_form.read({"domains": [{"name": "d", "kind": "hierarchical", "tree": tree}]})
    assert isinstance(caught.value.problems[0], TooDeep)


def test_names_in_parsed_json_must_be_text():
    with pytest.raises(InvalidSchema, match="names in 'tree' must be text, got 1990"):
        json_form.read({"domains": [{"name": "d", "kind": "hierarchical", "tree": {1990: {}}}]})


def test_an_extension_is_optional_when_the_text_is_silent():
    change = {"change": "extend_event_type", "event_type": "car", "attribute": {"name": "price"}}
    assert json_form.read_change(change) == ExtendEventType("car", AttributeUse("price", mandatory=False))


def test_a_change_may_append_the_empty_text():
    for change in (AppendValue("d", ""), AppendNode("d", "", None), AppendNode("d", "a", "")):
        assert json_form.read_change(json_form.write_change(change)) == change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (7, "change: expected an object, got 7"),
        ({}, "'change' is missing"),
        ({"change": "append_vlaue"}, "no change 'append_vlaue'; did you mean 'append_value'?"),
        ({"change": "append_value", "domain": "d", "node": "a"}, "change (append_value): no member 'node'"),
        ({"change": "append_value", "domain": "d"}, "'value' is missing"),
        ({"change": "append_value", "domain": "", "value": "a"}, "'domain' must not be empty"),
        ({"change": "append_node", "domain": "d", "node": "a", "parent": 7}, "'parent' must be text, got 7"),
        ({"change": "create_domain"}, "domain: expected an object, got null"),
    ],
)
def test_a_malformed_change_is_refused(change, message):
    with pytest.raises(SchemaForm) as caught:
        json_form.read_change(change)
    assert message in str(caught.value)


@pytest.mark.parametrize("shared_file", ["data/taxonomy-shopify/categories.txt.gz"], indirect=True)
def test_a_taxonomy_of_14606_categories_loads(shared_file):
    """Shopify's product taxonomy, in which leaf names repeat; a node may be written with its whole path as its name."""
    lines = gzip.decompress(shared_file.read_bytes()).decode().splitlines()
    paths = [line.split(" : ", 1)[1].strip() for line in lines if line.startswith("gid:")]
    below: dict[str, dict[str, object]] = {"": {}}
    for path in paths:
        below[path] = {}
        below[path.rpartition(" > ")[0]][path] = below[path]
    text = json.dumps({"domains": [{"name": "category", "kind": "hierarchical", "tree": below[""]}]})
    hierarchy = json_form.read(text).domains[0].hierarchy
    assert len(hierarchy) == len(paths) == 14_606
    assert set(hierarchy.nodes) == set(paths)
    sizes = Counter(
        " > ".join(parts[:depth])
        for parts in (path.split(" > ") for path in paths)
        for depth in range(1, len(parts) + 1)
    )
    for number, node in enumerate(hierarchy.nodes):
        start, stop = hierarchy.interval(node)
        assert (start, stop - start) == (number, sizes[node])
        parent = hierarchy.parents[number]
        assert node.rpartition(" > ")[0] == ("" if parent == NO_PARENT else hierarchy.nodes[parent])
    assert json_form.read(text).domains[0].kind is Kind.HIERARCHICAL
