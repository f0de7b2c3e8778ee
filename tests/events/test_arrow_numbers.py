"""Numbers of every Arrow type are read from Parquet as `validate` reads them one by one."""

from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.events.examples import EVERY_KIND
from tests.events.reading import parquet, read
from tidings.events import RefusedEvent, validate

LARGEST = 2**53
SIGNED = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
UNSIGNED = (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
FLOATS = (pa.float16(), pa.float32(), pa.float64())
DECIMALS = ((pa.decimal32, 9), (pa.decimal64, 18), (pa.decimal128, 38), (pa.decimal256, 76))


def near(middle, low, high):
    """Integers of a range, often where digits begin to be lost."""
    edges = [edge + step for edge in (-middle, 0, middle) for step in (-1, 0, 1)]
    held = [edge for edge in edges if low <= edge <= high]
    return st.integers(low, high) | st.sampled_from(held)


@st.composite
def integer_columns(draw):
    type_ = draw(st.sampled_from(SIGNED + UNSIGNED))
    values = 2**type_.bit_width
    low, high = (0, values - 1) if type_ in UNSIGNED else (-values // 2, values // 2 - 1)
    return type_, draw(st.lists(st.none() | near(LARGEST, low, high), min_size=1, max_size=5))


@st.composite
def float_columns(draw):
    type_ = draw(st.sampled_from(FLOATS))
    return type_, draw(st.lists(st.none() | st.floats(width=type_.bit_width), min_size=1, max_size=5))


@st.composite
def decimal_columns(draw):
    make, most = draw(st.sampled_from(DECIMALS))
    precision = draw(st.integers(1, most))
    scale = draw(st.integers(0, precision))  # Parquet has no others
    digits = near(LARGEST * 10**scale, 1 - 10**precision, 10**precision - 1)
    unscaled = draw(st.lists(st.none() | digits, min_size=1, max_size=5))
    return make(precision, scale), [None if one is None else exactly(one, scale) for one in unscaled]


def exactly(unscaled, scale):
    """Decimal's own arithmetic would round to 28 digits."""
    sign, digits = int(unscaled < 0), tuple(map(int, str(abs(unscaled))))
    return Decimal((sign, digits, -scale))


def as_json_has_it(value):
    """An integer where it is one, else the float nearest to it; independent of how Decimal converts itself."""
    if not isinstance(value, Decimal):
        return value
    exact = Fraction(value)
    return int(exact) if exact.denominator == 1 else exact.numerator / exact.denominator


def one_by_one(cells):
    accepted, refused = [], []
    for row, cell in enumerate(cells):
        raw = {"id": f"e{row}", "event_type": "all", "attributes": {"price": 1, "sizes": cell}}
        try:
            accepted.append(validate(raw, EVERY_KIND))
        except RefusedEvent as refusal:
            refused.append((refusal.id, [(one.rule, one.attribute) for one in refusal.errors]))
    return accepted, refused


def from_parquet(array):
    count = len(array)
    ids = [f"e{row}" for row in range(count)]
    file = parquet(id=ids, event_type=["all"] * count, price=[1] * count, sizes=array)
    events, refused, _, _ = read(file, "parquet")
    return events, [(one.id, [(error.rule, error.attribute) for error in one.errors]) for one in refused]


@settings(max_examples=300)
@given(st.one_of(integer_columns(), float_columns(), decimal_columns()))
@example((pa.decimal128(20, 0), [Decimal(LARGEST + 1)]))
@example((pa.decimal128(20, 2), [Decimal(LARGEST + 1), Decimal("9007199254740993.5"), Decimal("0.3")]))
def test_a_column_of_numbers_is_read_as_single_ones_are(column):
    type_, values = column
    assert from_parquet(pa.array(values, type_)) == one_by_one([as_json_has_it(value) for value in values])


@settings(max_examples=100)
@given(st.one_of(integer_columns(), float_columns(), decimal_columns()), st.data())
def test_lists_of_numbers_are_read_as_single_ones_are(column, data):
    type_, values = column
    values = [value for value in values if value is not None]
    cut = data.draw(st.integers(0, len(values)))
    rows = [values[:cut] or None, values[cut:] or None]
    expected = one_by_one([None if row is None else [as_json_has_it(value) for value in row] for row in rows])
    assert from_parquet(pa.array(rows, pa.list_(type_))) == expected


@pytest.mark.parametrize("scale", [0, 1, 7, 18])
def test_an_integer_beyond_two_to_the_53_is_refused_whatever_the_scale(scale):
    array = pa.array([Decimal(LARGEST), Decimal(LARGEST + 1), Decimal(-LARGEST - 1)], pa.decimal128(38, scale))
    events, refused = from_parquet(array)
    assert [dict(event.attributes)["sizes"] for event in events] == [(LARGEST,)]
    assert refused == [("e1", [("domain", "sizes")]), ("e2", [("domain", "sizes")])]


def test_a_decimal_is_the_number_that_a_filter_means():
    events, _ = from_parquet(pa.array([Decimal("0.3"), Decimal("1234.1")], pa.decimal128(38, 18)))
    assert [dict(event.attributes)["sizes"] for event in events] == [(0.3,), (1234.1,)]
