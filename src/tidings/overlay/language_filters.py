"""Filters of `tidings.language` for the machine: bound to one version of the schema."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.events.event import Bindings
from tidings.language import Filter, covers, overlaps
from tidings.language.analysis.constraints import Constraints, constraints_of
from tidings.language.ranges import attribute_space
from tidings.matching.choice import matches
from tidings.overlay import values
from tidings.overlay.filters import Filters
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Kind


class LanguageFilters(Filters):
    """Filters are `language.Filter`, contents the bindings of an event."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.everything = Filter.parse("event_type exists", catalog)

    def covers(self, wider: values.Filter, narrower: values.Filter) -> bool:
        return covers(_filter(wider), _filter(narrower), self._catalog)

    def overlaps(self, left: values.Filter, right: values.Filter) -> bool:
        return overlaps(_filter(left), _filter(right), self._catalog)

    def matches(self, filter: values.Filter, content: object) -> bool:
        assert isinstance(content, dict)
        bindings: Bindings = content
        return matches(_filter(filter).conjunctions, bindings, self._catalog)

    def text(self, filter: values.Filter) -> str:
        return _filter(filter).text

    def widen(self, filters: Sequence[values.Filter]) -> values.Filter:
        """Of each attribute that all bind, the span of what they admit; numbers only, else that it is bound."""
        if len(filters) == 1:
            return filters[0]
        parts = [
            constraints_of(conjunction, self._catalog) for one in filters for conjunction in _filter(one).conjunctions
        ]
        shared = set.intersection(*(part.bound for part in parts)) if parts else set()
        written = [text for name in sorted(shared) for text in self._spanned(name, parts)]
        return Filter.parse(" and ".join(written), self._catalog) if written else self.everything

    def _spanned(self, name: str, parts: list[Constraints]) -> list[str]:
        quoted = '"' + name.replace('"', '""') + '"'
        space = attribute_space(name, self._catalog)
        if space.domain.kind is not Kind.NUMERIC or "<" not in (space.domain.operators or "<"):
            return [f"{quoted} exists"]
        admitted = [part.ranges.get(name, space.everything) for part in parts]
        low = min(ranges[0][0] for ranges in admitted if ranges)
        high = max(ranges[-1][1] for ranges in admitted if ranges)
        sides = [f"{quoted} >= {low!r}"] if low > space.bottom else []
        sides += [f"{quoted} < {high!r}"] if high < space.top else []
        return sides or [f"{quoted} exists"]


def _filter(filter: values.Filter) -> Filter:
    assert isinstance(filter, Filter)
    return filter
