"""Valid events as an Arrow table in the form of our Parquet files, for `spark.createDataFrame`."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tidings.events import Event
from tidings.schema import Catalog, Domain, Kind

_ELEMENTS = {Kind.NUMERIC: pa.float64(), Kind.TIME: pa.timestamp("us", tz="UTC")}


def event_table(events: Sequence[Event], catalog: Catalog, left_out: Sequence[str] = ()) -> Any:
    """All attributes but those left out; arrays where an event may have several values."""
    columns = {
        "id": pa.array([event.id for event in events], pa.string()),
        "source": pa.array([event.source or None for event in events], pa.string()),
        "time": _instants([event.time for event in events]),
        "event_type": pa.array([list(event.event_types) for event in events], pa.list_(pa.string())),
    }
    bound = [dict(event.attributes) for event in events]
    for attribute in catalog.attributes:
        domain = catalog.domain_of(attribute.name)
        assert domain is not None
        if attribute.name not in left_out:
            values = [row.get(attribute.name) for row in bound]
            columns[attribute.name] = _column(values, domain, catalog.may_be_multiple(attribute.name))
    return pa.table(columns)


def _column(rows: list[Any], domain: Domain, several: bool) -> Any:
    if domain.kind is Kind.TIME:
        rows = [None if row is None else tuple(map(int, row)) for row in rows]
    raw = {Kind.TIME: pa.int64()}.get(domain.kind, _ELEMENTS.get(domain.kind, pa.string()))
    element = _ELEMENTS.get(domain.kind, pa.string())
    if several:
        return pa.array(rows, pa.list_(raw)).cast(pa.list_(element))
    return pa.array([None if row is None else row[0] for row in rows], raw).cast(element)


def _instants(times: list[Any]) -> Any:
    return pa.array([None if time is None else int(time) for time in times], pa.int64()).cast(_ELEMENTS[Kind.TIME])
