"""On a file, similarity weighs words by the whole file: a first pass over the events counts them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from tidings.events import read_events
from tidings.events.arrays import is_list
from tidings.language.similarity import statistics_of
from tidings.language.tree import Not, Similar
from tidings.matching.boxes.filter_batch import FilterBatch
from tidings.schema.catalog import Catalog


def with_file_statistics(filters: FilterBatch, events: Path, catalog: Catalog, form: Any = None) -> Catalog:
    """The catalog with the statistics of the attributes that filters ask for similarity of, except those that it has
    already; the same catalog if there are none."""
    known = {one.attribute for one in catalog.statistics}
    asked = _asked(filters) - known
    if not asked:
        return catalog
    texts: dict[str, list[str]] = {name: [] for name in sorted(asked)}
    for reading in read_events(events, catalog, form):
        for name, found in texts.items():
            column = reading.batch.columns.get(name)
            if column is not None:
                flat = column.flatten() if is_list(column) else column
                found.extend(flat.drop_null().to_pylist())
    counted = []
    for name, found in texts.items():
        domain = catalog.domain_of(name)
        assert domain is not None
        counted.append(statistics_of(name, found, domain.language))
    return replace(catalog, statistics=(*catalog.statistics, *counted))


def _asked(filters: FilterBatch) -> set[str]:
    literals = (one for filter in filters.others.values() for all_of in filter.conjunctions for one in all_of)
    predicates = (one.term if isinstance(one, Not) else one for one in literals)
    return {one.attribute for one in predicates if isinstance(one, Similar)}
