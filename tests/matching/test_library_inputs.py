"""Whatever form events come in, `Matcher.match` gives what the specification gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipeline.tables import event_table
from tests.strategies.filters import RICH, events, filter_texts
from tidings import Event, EventBatch, Filter, Matcher, Schema, TidingsError
from tidings.events import write_event
from tidings.matching.naive import matches
from tidings.schema import Instant, Kind

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ATHENS = timezone(timedelta(hours=3))


def table(happened: Sequence[Event]) -> Any:
    return event_table(happened, RICH)


def dictionaries(happened: Sequence[Event]) -> Any:
    """Categories of every column of text, zones, decimals, the types that polars and pandas use."""
    made = table(happened)
    for place, name in enumerate(made.schema.names):
        column = made.column(name).combine_chunks()
        if pa.types.is_string(column.type):
            column = column.dictionary_encode()
        elif pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ns", "Europe/Athens"))
        elif pa.types.is_floating(column.type):
            column = column.cast(pa.decimal128(20, 3))
        elif pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type):
            column = column.cast(pa.large_list(pa.large_string()))
        made = made.set_column(place, name, column)
    return made


def with_nan(happened: Sequence[Event]) -> Any:
    """NaN in place of null."""
    made = table(happened)
    for place, name in enumerate(made.schema.names):
        if pa.types.is_floating(made.column(name).type):
            made = made.set_column(place, name, made.column(name).fill_null(float("nan")))
    return made


def in_chunks(happened: Sequence[Event]) -> Any:
    return pa.concat_tables([table(happened[:1]), table(happened[1:])])


def plain_dicts(happened: Sequence[Event]) -> list[dict[str, Any]]:
    """The attributes alone, with values as Python programs have them."""
    rows = []
    for event in happened:
        row: dict[str, Any] = {"id": event.id, "source": event.source, "event_type": set(event.event_types)}
        row["time"] = None if event.time is None else moment(event.time)
        for number, (name, values) in enumerate(event.attributes):
            several = [np.array, list, tuple, set][number % 4]
            made = [python_value(value, number) for value in values]
            row[name] = made[0] if len(made) == 1 and number % 3 else several(made)
        row |= {name.name: [None, float("nan"), []][len(rows) % 3] for name in RICH.attributes if name.name not in row}
        rows.append(row)
    return rows


def python_value(value: Any, number: int) -> Any:
    if isinstance(value, Instant):
        return moment(value)
    if isinstance(value, str):
        return value
    return [value, float(value), Decimal(str(value)), np.float64(value)][number % 4]


def moment(instant: Instant) -> datetime:
    return (_EPOCH + timedelta(microseconds=int(instant))).astimezone(_ATHENS)


FORMS: dict[str, Callable[[Sequence[Event]], Any]] = {
    "arrow": table,
    "record batch": lambda happened: table(happened).to_batches()[0],
    "reader": lambda happened: table(happened).to_reader(),
    "chunks": in_chunks,
    "batches": lambda happened: iter(in_chunks(happened).to_batches()),
    "dictionaries": dictionaries,
    "nan": with_nan,
    "pandas": lambda happened: table(happened).to_pandas(),
    "pandas of arrow": lambda happened: table(happened).to_pandas(types_mapper=_arrow_backed),
    "pandas categories": lambda happened: dictionaries(happened).to_pandas(),
    "pandas index": lambda happened: table(happened).to_pandas().set_index(["id", "source"]),
    "polars": lambda happened: polars.from_arrow(table(happened)),
    "polars categories": lambda happened: polars.from_arrow(dictionaries(happened)),
    "polars rows": lambda happened: polars.from_arrow(table(happened)).iter_rows(named=True),
    "dicts": plain_dicts,
    "whole events": lambda happened: [write_event(event) for event in happened],
    "events": list,
    "generator": iter,
    "batch": lambda happened: EventBatch.of(happened, RICH),
}


def _arrow_backed(type_: Any) -> Any:
    from pandas import ArrowDtype

    return ArrowDtype(type_)


def expected(texts: list[str], happened: list[Event]) -> list[tuple[int, str]]:
    trees = [Filter.parse(text, RICH).tree for text in texts]
    return [
        (row, str(number))
        for row, event in enumerate(happened)
        for number, tree in enumerate(trees)
        if matches(tree, event.bindings(), RICH)
    ]


@pytest.mark.filterwarnings("ignore::tidings.FilterWarning")
@settings(max_examples=30)  # times 19 forms
@given(data=st.data())
def test_every_form_gives_what_naive_gives(data: st.DataObject) -> None:
    texts = data.draw(st.lists(filter_texts(RICH), min_size=1, max_size=8))
    happened = data.draw(st.lists(events(RICH), min_size=1, max_size=5))
    matcher = Matcher(RICH)
    matcher.add_many([(str(number), text) for number, text in enumerate(texts)])
    wanted = expected(texts, happened)
    for name, form in FORMS.items():
        found = matcher.match(form(happened))
        assert [(row, one.subscription) for row, one in zip(found.rows.tolist(), found, strict=True)] == wanted, name
        assert [one.event for one in found] == [happened[row].id for row, _ in wanted], name
        assert found.to_arrow().to_pylist() == [one._asdict() for one in found], name
    for row, event in enumerate(plain_dicts(happened)):
        assert matcher.match_one(event) == [subscription for place, subscription in wanted if place == row]


@pytest.mark.filterwarnings("ignore::tidings.FilterWarning")
@settings(max_examples=40)  # times 4 forms
@given(data=st.data())
def test_an_inferred_schema_finds_what_a_declared_one_finds(data: st.DataObject) -> None:
    """Comparisons of numbers, times and texts mean the same, whatever the frame."""
    kinds = (Kind.NUMERIC, Kind.TIME, Kind.STRING)
    plain = [one.name for one in RICH.attributes if RICH.domain_of(one.name).kind in kinds and one.name != "zip code"]  # type: ignore[union-attr]
    happened = data.draw(st.lists(events(RICH), min_size=1, max_size=5))
    texts = data.draw(st.lists(filter_texts(RICH), min_size=1, max_size=8))
    frame = table(happened).select(["id", "source", "time", "event_type", *plain])
    schema = Schema.infer(frame.drop_columns(["source", "time"]))
    fitting = [text for text in texts if _binds(text, schema)]
    matcher = Matcher(schema)
    matcher.add_many([(str(number), text) for number, text in enumerate(fitting)])
    for form in (frame, frame.to_pandas(), polars.from_arrow(frame), frame.to_pylist()):
        found = matcher.match(form)
        pairs = list(zip(found.rows.tolist(), [one.subscription for one in found], strict=True))
        assert pairs == expected(fitting, happened)


def _binds(text: str, schema: Schema) -> bool:
    try:
        Filter.parse(text, schema)
    except TidingsError:
        return False
    return True
