from __future__ import annotations

import pickle

import pytest

from tests.schema.samples import BRAND, CATEGORIES, MONEY, WORDS
from tidings.schema import Domain, Instant, Kind
from tidings.schema.domain import OperatorOutsideKind, OutsideDomain, PartOutsideKind, RepeatedValue
from tidings.schema.values import NotText

CATEGORY = Domain("category", Kind.HIERARCHICAL, hierarchy=CATEGORIES)
SIZE = Domain("size", Kind.ENUMERATED, values=("S", "M", "L"), ordered=True)
MOMENT = Domain("moment", Kind.TIME)


@pytest.mark.parametrize(
    ("domain", "operators"),
    [
        (MONEY, "= != < <= > >="),
        (WORDS, "= != < <= > >= contains starts ends like"),
        (BRAND, "= !="),
        (SIZE, "= != < <= > >="),
        (CATEGORY, "= != < <= > >="),
        (Domain("body", Kind.TEXT), "= contains ~"),
        (MOMENT, "= != < <= > >="),
    ],
)
def test_a_domain_allows_all_that_its_kind_allows_when_it_is_silent(domain, operators):
    assert domain.operators == tuple(operators.split())


def test_a_domain_may_allow_less_in_any_order_and_twice():
    domain = Domain("money", Kind.NUMERIC, (">", "=", ">"))
    assert domain.operators == ("=", ">")
    assert domain.allows(">")
    assert not domain.allows("<")
    assert Domain("mute", Kind.NUMERIC, ()).operators == ()


@pytest.mark.parametrize(
    ("kind", "operator"),
    [
        (Kind.NUMERIC, "contains"),
        (Kind.ENUMERATED, "<"),
        (Kind.TEXT, "!="),
        (Kind.STRING, "~"),
        (Kind.TIME, "=>"),
    ],
)
def test_an_operator_of_another_kind_is_refused_with_the_legal_ones(kind, operator):
    with pytest.raises(OperatorOutsideKind) as caught:
        Domain("d", kind, (operator,))
    assert f" {kind} domain cannot allow {operator!r}; it may allow =" in str(caught.value)


def test_a_repeated_value_is_named():
    with pytest.raises(RepeatedValue, match="domain 'd': the value 'b' is listed twice"):
        Domain("d", Kind.ENUMERATED, values=("a", "b", "c", "b"))


def test_parts_of_another_kind_are_refused():
    with pytest.raises(PartOutsideKind, match="'values' belongs to enumerated domains; this one is numeric"):
        Domain("d", Kind.NUMERIC, values=("a",))
    with pytest.raises(PartOutsideKind, match="'ordered' belongs to enumerated"):
        Domain("d", Kind.STRING, ordered=True)
    with pytest.raises(PartOutsideKind, match="'hierarchy' belongs to hierarchical"):
        Domain("d", Kind.ENUMERATED, values=("a",), hierarchy=CATEGORIES)


def test_half_a_surrogate_pair_is_no_value():
    with pytest.raises(NotText, match=r"domain 'd': 'a\\ud800' contains an unpaired"):
        Domain("d", Kind.ENUMERATED, values=("a\ud800",))
    with pytest.raises(OutsideDomain, match="surrogate"):
        WORDS.canonical("a\ud800")


@pytest.mark.parametrize(
    ("domain", "raw", "canonical"),
    [
        (MONEY, 900.0, 900),
        (WORDS, "red", "red"),
        (BRAND, "mini", "mini"),
        (CATEGORY, "table", "dining room > table"),
        (MOMENT, "1970-01-01T00:00:01Z", Instant(1_000_000)),
        (MOMENT, Instant(5), Instant(5)),
    ],
)
def test_a_value_becomes_canonical(domain, raw, canonical):
    made = domain.canonical(raw)
    assert (type(made), made) == (type(canonical), canonical)


@pytest.mark.parametrize(
    ("domain", "raw", "reason"),
    [
        (MONEY, "900", "'900' is not in domain 'money'; expected a number without"),
        (MONEY, float("nan"), "NaN"),
        (MONEY, Instant(5), "expected a number"),
        (WORDS, 7, "expected text"),
        (BRAND, "audii", "did you mean 'audi'?"),
        (BRAND, "xyz", "valid values: 'opel', 'mini', 'cooper', 'audi'"),
        (BRAND, 7, "valid values: 'opel', 'mini', 'cooper', 'audi'"),
        (Domain("empty", Kind.ENUMERATED), "a", "the domain has no values yet"),
        (CATEGORY, "tabel", "did you mean 'table'?"),
        (MOMENT, 7, "ISO 8601"),
        (MOMENT, "noon", "ISO 8601"),
        (MOMENT, "0001-01-01T00:00:00+14:00", "years 1 to 9999"),
    ],
)
def test_a_value_outside_the_domain_is_refused_with_the_reason(domain, raw, reason):
    with pytest.raises(OutsideDomain) as caught:
        domain.canonical(raw)
    assert reason in str(caught.value)
    assert caught.value.reason in str(caught.value)


def test_many_values_are_counted_not_listed():
    domain = Domain("d", Kind.ENUMERATED, values=tuple(f"v{n:05}" for n in range(5000)))
    with pytest.raises(OutsideDomain, match="not one of the domain's 5,000 values"):
        domain.canonical("?")


def test_ordinals_are_places_in_the_list_and_pre_order_numbers():
    assert [SIZE.ordinal(value) for value in SIZE.values] == [0, 1, 2]
    assert CATEGORY.vocabulary[CATEGORY.ordinal("table")] == "dining room > table"
    assert BRAND.names("mini")
    assert not BRAND.names("table")
    assert MONEY.kind.totally_ordered
    assert not CATEGORY.kind.totally_ordered


@pytest.mark.parametrize("domain", [MONEY, BRAND, CATEGORY])
def test_a_domain_is_hashable_and_survives_pickling(domain):
    copy = pickle.loads(pickle.dumps(domain))
    assert copy == domain
    assert hash(copy) == hash(domain)
    assert copy.vocabulary == domain.vocabulary
