"""How the tests of files read them."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq

from tests.events.examples import EVERY_KIND
from tidings.events import read_events


def read(content, form="jsonl", catalog=EVERY_KIND, rows=3):
    """All readings of a file as (events, refused, duplicates, positions)."""
    stream = io.BytesIO(content if isinstance(content, bytes) else content.encode())
    readings = list(read_events(stream, catalog, form, rows))
    return (
        [event for reading in readings for event in reading.batch],
        [refused for reading in readings for refused in reading.refused],
        sum(reading.duplicates for reading in readings),
        [position for reading in readings for position in reading.batch.positions.to_pylist()],
    )


def line(id, price=1, **more):
    return json.dumps({"id": id, "event_type": "all", "attributes": {"price": price, **more}})


def parquet(**columns):
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, row_group_size=2)
    return sink.getvalue()


def places(refused):
    return [(one.line, one.id, [(error.rule, error.attribute) for error in one.errors]) for one in refused]
