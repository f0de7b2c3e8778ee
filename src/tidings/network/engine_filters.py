"""Filters of the language for the machine, as canonical texts, matched by the engine.

Texts can be compared, sorted and sent, and outlive growth of the schema; here they are bound to one catalog."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from zlib import crc32

import pyarrow as pa

from tidings.errors import LanguageError
from tidings.events.decoder import EventDecoder
from tidings.language import Filter, Subscription, covers, overlaps
from tidings.language.composites import BoundComposite
from tidings.language.normal_form import Literal
from tidings.language.printer import print_filter
from tidings.language.tree import Exists, Not, NowComparison, Similar, both, either
from tidings.matching.one_filter import OneFilter
from tidings.network.contents import Content, Page
from tidings.network.wire_shapes import LONGEST_TEXT
from tidings.overlay import values
from tidings.overlay.filters import Filters, Selector
from tidings.overlay.language_filters import LanguageFilters
from tidings.overlay.reduction import Reduction
from tidings.schema.catalog import Catalog

_serials = itertools.count(1)
_FEW = 16  # filters that are tested one after another, without compiled code
_MOST_TEXT = 1 << 20  # characters of one summary, which must fit into a message
_LOCAL = re.compile(r"\bnow\b|~")


class EngineFilters(Filters):
    """Filters are canonical texts, contents are `Content`."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._language = LanguageFilters(catalog)
        self._decoder = _Decoder(catalog)
        self.everything = self._language.everything.text  # type: ignore[attr-defined]
        self._bound = lru_cache(20_000)(lambda text: Filter.parse(text, catalog))
        self._merged = lru_cache(20_000)(self.widen)
        self._reduction = Reduction(catalog, self._bound)

    def fits(self, texts: Iterable[object]) -> bool:
        """Whether all of them are filters under this catalog, and no more text than a summary has."""
        texts = list(texts)
        if sum(len(str(text)) for text in texts) > _MOST_TEXT:
            return False
        try:
            for text in texts:
                self._bound(text)
        except LanguageError:
            return False
        return True

    def check(self, text: str) -> None:
        """Raises LanguageError."""
        self._bound(text)

    def travelling(self, text: str) -> str:
        """As the filter goes to other servers. What depends on when this server accepts an event, or on its statistics,
        cannot be tested elsewhere: there only what it binds counts. Nor does a message carry texts of any length."""
        if _LOCAL.search(text):
            alternatives = (dict.fromkeys(map(_travelling, some)) for some in self._bound(text).conjunctions)
            text = print_filter(either([both(list(some)) for some in alternatives]))
        return text if len(text) <= LONGEST_TEXT else self._widened([self._bound(text)] * 2)

    def of_composite(self, text: str) -> list[str]:
        """The filters of its leaves."""
        return sorted({self.travelling(one.text) for one in BoundComposite.parse(text, self.catalog).filters})

    def covers(self, wider: values.Filter, narrower: values.Filter) -> bool:
        return covers(self._bound(wider), self._bound(narrower), self.catalog)

    def reduce(self, filters: Iterable[values.Filter]) -> tuple[values.Filter, ...]:
        return self._reduction.reduce(sorted({str(one) for one in filters}))

    def overlaps(self, left: values.Filter, right: values.Filter) -> bool:
        return overlaps(self._bound(left), self._bound(right), self.catalog)

    def overlapping(self, filters: Iterable[values.Filter], others: Sequence[values.Filter]) -> set[values.Filter]:
        return {*self._reduction.overlapping(map(str, filters), [str(one) for one in others])}

    def matches(self, filter: values.Filter, content: object) -> bool:
        return self.selector((filter,))(content)

    def text(self, filter: values.Filter) -> str:
        return str(filter)

    def widen(self, filters: Sequence[values.Filter]) -> values.Filter:
        return filters[0] if len(filters) == 1 else self._widened([self._bound(one) for one in filters])

    def _widened(self, filters: Sequence[Filter]) -> str:
        widened = self._language.widen(filters)
        assert isinstance(widened, Filter)
        return widened.text

    def summary(self, filters: Iterable[values.Filter], limit: int) -> tuple[values.Filter, ...]:
        """Where there are far too many, neighbours by text are merged before all are compared with each other."""
        some: Sequence[values.Filter] = sorted(set(filters), key=self.text)
        if len(some) > 2 * limit:
            some = sorted({self._merged(run) for run in _runs(some, limit)}, key=self.text)
        found = super().summary(some, limit)
        while len(found) > 1 and sum(len(str(one)) for one in found) > _MOST_TEXT:
            found = super().summary(found, len(found) // 2)
        return found

    def selector(self, filters: Sequence[values.Filter]) -> Selector:
        if not filters:
            return lambda _content: False
        return _Selection(self._decoder, self.catalog, [self._bound(one) for one in filters])


def _runs(texts: Sequence[values.Filter], count: int) -> Iterator[tuple[values.Filter, ...]]:
    """About that many runs, or half. What a run ends with says that it ends: one filter more or less changes one
    run, and the others need not be merged again."""
    length = 1 << (len(texts) // count).bit_length()
    start = 0
    for stop, text in enumerate(texts, 1):
        if stop == len(texts) or crc32(str(text).encode()) % length == 0:
            yield tuple(texts[start:stop])
            start = stop


def _travelling(literal: Literal) -> Literal:
    match literal:
        case Similar(attribute) | NowComparison(attribute) | Not(Similar(attribute) | NowComparison(attribute)):
            return Exists(attribute)
    return literal


class _Decoder:
    def __init__(self, catalog: Catalog) -> None:
        self._decoder = EventDecoder(catalog)

    def decode(self, payloads: Sequence[str]) -> tuple[object, list[int]]:
        """The batch, and of each of its rows the row of the page."""
        positions = pa.array(range(len(payloads)), pa.int64())
        batch, _refused = self._decoder.decode(payloads, positions)
        return batch, batch.positions.to_pylist()


class _Selection:
    """Whether any of the filters matches, asked of a whole page at once."""

    def __init__(self, decoder: _Decoder, catalog: Catalog, filters: Sequence[Filter]) -> None:
        self._serial = next(_serials)
        self._decoder = decoder
        self._few = [OneFilter(one, catalog) for one in filters] if len(filters) <= _FEW else []
        self._matcher: Any = None
        if not self._few:
            from tidings.matching.algorithms import DEFAULT, make_matcher  # with numba, which takes seconds to load

            self._matcher = make_matcher(DEFAULT, catalog)
            for number, filter in enumerate(filters):
                self._matcher.add(Subscription(str(number), filter), 0)

    def __call__(self, content: object) -> bool:
        assert isinstance(content, Content)
        mask = content.page.masks.get(self._serial)
        if mask is None:
            mask = content.page.masks[self._serial] = self._mask(content.page)
        return content.row in mask

    def _mask(self, page: Page) -> frozenset[int]:
        batch, rows = page.batch(self._decoder)
        if not rows:
            return frozenset()
        if self._few:
            return frozenset(rows[row] for one in self._few for row in one.select(batch).tolist())
        offsets = self._matcher.match(batch.at(pa.repeat(0, len(batch)))).offsets
        return frozenset(row for row, start, stop in zip(rows, offsets, offsets[1:], strict=False) if stop > start)
