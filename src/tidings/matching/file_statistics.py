"""On a file, similarity weighs words by the whole file: a first pass over the events counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tidings.events.arrays import is_list
from tidings.events.files.reading import Reading
from tidings.language import Filter
from tidings.language.similarity import TermCounts, similar_attributes
from tidings.schema.catalog import Catalog


def with_file_statistics(filters: Iterable[Filter], read: Callable[[], Iterable[Reading]], catalog: Catalog) -> Catalog:
    """The catalog with the statistics of the attributes that filters ask for similarity of, except those that it has
    already; the same catalog if there are none. `read` opens the file."""
    asked = {name for filter in filters for name in similar_attributes(filter.conjunctions)}
    counts: dict[str, TermCounts] = {}
    for name in sorted(asked - {one.attribute for one in catalog.statistics}):
        domain = catalog.domain_of(name)
        assert domain is not None
        counts[name] = TermCounts(domain.language)
    if not counts:
        return catalog
    for reading in read():
        for name, counted in counts.items():
            column = reading.batch.columns.get(name)
            if column is not None:
                flat = column.flatten() if is_list(column) else column
                for text in flat.drop_null().to_pylist():
                    counted.add(text)
    return replace(catalog, statistics=(*catalog.statistics, *(one.statistics(name) for name, one in counts.items())))
