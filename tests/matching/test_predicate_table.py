"""The bulk form of filters: its texts are the language's, its parts what was cut, and nonsense is refused."""

import pickle

import numpy as np
import pytest

from tidings.language import Filter
from tidings.matching.boxes.predicate_table import OPERATORS, BrokenTable, PredicateTable, number_texts
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Hierarchy, Instant, Kind

CATALOG = Catalog(
    domains=(
        Domain("number", Kind.NUMERIC),
        Domain("words", Kind.STRING),
        Domain("colour", Kind.ENUMERATED, values=("red", "deep blue", "rot'")),
        Domain("category", Kind.HIERARCHICAL, hierarchy=Hierarchy.from_tree({"table": {"dining table": {}}})),
        Domain("moment", Kind.TIME),
    ),
    attributes=(
        Attribute("price", "number"),
        Attribute("the title", "words"),
        Attribute("colour", "colour"),
        Attribute("category", "category"),
        Attribute("sold", "moment"),
    ),
    event_types=(
        EventType("sale", tuple(AttributeUse(n) for n in ("price", "the title", "colour", "category", "sold"))),
    ),
)
ATTRIBUTES = ("event_type", "price", "the title", "colour", "category", "sold")
TITLES = ("Old", "it's", 'a "quoted" one')
VOCABULARIES = (("sale",), (), TITLES, ("red", "deep blue", "rot'"), ("table", "table > dining table"), ())
NOON = Instant.parse("2026-05-01T12:00:00Z")

# Each filter's predicates, and the text they stand for.
CASES = [
    ([("event_type", "contains", 0), ("price", "<", 1300)], "event_type contains 'sale' and price < 1300"),
    ([("price", ">=", -0.5)], "price >= -0.5"),
    ([("price", "!=", 2.0**60)], "price != 1.152921504606847e+18"),
    ([("the title", "=", 1)], "\"the title\" = 'it''s'"),
    ([("the title", "=", 2)], '"the title" = \'a "quoted" one\''),
    ([("the title", "contains", 0)], "\"the title\" contains 'old'"),
    ([("colour", "!=", 1), ("colour", "contains", 2)], "colour != 'deep blue' and colour contains 'rot'''"),
    ([("category", "<=", 0)], "category <= 'table'"),
    ([("sold", ">", float(NOON)), ("price", "=", 0)], "sold > '2026-05-01T12:00:00Z' and price = 0"),
]


def table(*filters, attributes=ATTRIBUTES, vocabularies=VOCABULARIES):
    flat = [predicate for predicates in filters for predicate in predicates]
    return PredicateTable(
        CATALOG,
        attributes,
        vocabularies,
        np.cumsum([0, *map(len, filters)]),
        np.array([attributes.index(name) for name, _, _ in flat], np.int16),
        np.array([OPERATORS.index(operator) for _, operator, _ in flat], np.int8),
        np.array([value for _, _, value in flat], np.float64),
    )


ALL = table(*(predicates for predicates, _ in CASES))
TEXTS = [text for _, text in CASES]


@pytest.mark.parametrize("i", range(len(CASES)))
def test_text_is_the_canonical_one(i):
    assert ALL.text(i) == TEXTS[i]
    assert Filter.parse(TEXTS[i], CATALOG).text == TEXTS[i]
    assert ALL.filter(i) == Filter.parse(TEXTS[i], CATALOG)


def test_the_bulk_printer_equals_the_single_one():
    assert list(ALL.texts()) == TEXTS
    assert ALL.printed().to_pylist() == TEXTS


def test_slice_and_take():
    assert len(ALL) == len(CASES)
    assert list(ALL.slice(2, 5).texts()) == TEXTS[2:5]
    assert list(ALL.slice(7, 99).texts()) == TEXTS[7:]
    assert len(ALL.slice(4, 4)) == 0
    assert list(ALL.slice(4, 4).texts()) == []
    assert list(ALL.take([8, 0, 0, 3]).texts()) == [TEXTS[i] for i in (8, 0, 0, 3)]
    assert len(ALL.take([])) == 0
    assert list(ALL.slice(3, 9).take([5, 1]).texts()) == [TEXTS[8], TEXTS[4]]
    assert ALL.slice(1, 3).value.base is not None, "a slice is a view"


def test_a_table_travels_to_workers():
    assert list(pickle.loads(pickle.dumps(ALL)).texts()) == TEXTS


def test_no_such_filter():
    with pytest.raises(IndexError):
        ALL.text(len(CASES))


@pytest.mark.parametrize(
    ("filters", "problem"),
    [
        ([[("price", "=", 1)], []], "filter 1 has no predicate"),
        ([[("price", "contains", np.nan)]], "outside the domain"),
        ([[("colour", "<", 1)]], "operator is not allowed"),
        ([[("colour", "=", 3)]], "outside the domain"),
        ([[("colour", "=", 0.5)]], "outside the domain"),
        ([[("colour", "=", -1)]], "outside the domain"),
        ([[("the title", "contains", 2)]], "exactly one word"),
        ([[("the title", "contains", 1)]], "exactly one word"),
    ],
)
def test_nonsense_is_refused(filters, problem):
    with pytest.raises(BrokenTable, match=problem):
        table(*filters)


@pytest.mark.parametrize(
    ("attributes", "vocabularies", "problem"),
    [
        (("price", "colour"), ((),), "2 attributes but 1 vocabularies"),
        (("prize",), ((),), "no attribute 'prize'"),
        (("colour",), (("red",),), "not that of its domain"),
        (("price",), (("one",),), "has no vocabulary"),
    ],
)
def test_vocabularies_fit_the_catalog(attributes, vocabularies, problem):
    with pytest.raises(BrokenTable, match=problem):
        table([(attributes[0], "=", 0)], attributes=attributes, vocabularies=vocabularies)


@pytest.mark.parametrize(
    "changed",
    [
        {"offsets": np.array([0, 2])},
        {"offsets": np.array([], np.int64)},
        {"attribute": np.array([9], np.int16)},
        {"operator": np.array([-1], np.int8)},
        {"operator": np.array([0, 0], np.int8)},
    ],
)
def test_arrays_fit_each_other(changed):
    one = table([("price", "=", 1)])
    arrays = {name: getattr(one, name) for name in ("offsets", "attribute", "operator", "value")}
    with pytest.raises(BrokenTable):
        PredicateTable(CATALOG, ATTRIBUTES, VOCABULARIES, **(arrays | changed))


def test_numbers_are_printed_as_python_prints_canonical_ones():
    values = np.array([0.0, -0.0, 1.0, 1.5, 2.0**53, 2.0**60, 1e300, -3.0, 1e-7])
    expected = ["0", "0", "1", "1.5", "9007199254740992", "1.152921504606847e+18", "1e+300", "-3", "1e-07"]
    assert number_texts(values).to_pylist() == expected
    assert number_texts(np.array([2.0**60])).to_pylist() == ["1.152921504606847e+18"]
    assert number_texts(np.array([-2.0, -0.0, 5.0])).to_pylist() == ["-2", "0", "5"]
    assert number_texts(np.array([])).to_pylist() == []
