"""Filters that somebody might subscribe to, made from the schema and from what was published of late.

They are for newcomers: short, in the language of filters, and each matches a real event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress

from tidings.events import Event, RefusedEvent, validate
from tidings.language import Filter, print_filter
from tidings.language.tree import And, Comparison, Contains, ContainsWords, Node
from tidings.schema import Catalog
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import Value
from tidings.store.pages.recent import Seen

Term = Comparison | ContainsWords
MOST = 3
_LONGEST_VALUE = 40
_SHORTEST_WORD = 4
_LARGEST = 1 << 14  # characters of an event that an example is made from
_EXACT = 2**53  # below it, whole numbers are written as such


def example_filters(catalog: Catalog, events: Sequence[Event]) -> list[str]:
    """What the newest events of the commonest types say: of one term each and about different attributes, and by
    their type alone only where there is nothing simpler; canonical text."""
    of_types = _by_type(events)
    rows = [_terms(catalog, some) for some in of_types.values()]
    found: list[str] = []
    used: set[str] = set()
    for terms in [*rows, *rows, *rows]:  # of few types more than one each
        term = next((one for one in terms if one.attribute not in used), None)
        if term is not None:
            used.add(term.attribute)
            found.append(_text(term, catalog))
    found += [_text(Contains(EVENT_TYPE, name), catalog) for name in of_types]
    return list(dict.fromkeys(found))[:MOST]


def leading_filter(catalog: Catalog, events: Sequence[Event]) -> str:
    """One of two terms, to show what can be said; '' where no event says enough."""
    for some in _by_type(events).values():
        terms = _terms(catalog, some)
        if len(terms) > 1:
            return _text(And((terms[0], terms[1])), catalog)
    return ""


def read_example(catalog: Catalog, newest: Sequence[Seen]) -> str:
    """The same from events as they were stored; those that the schema no longer reads are passed over."""
    events: list[Event] = []
    for seen in newest:
        with suppress(RefusedEvent):
            if seen.size <= _LARGEST:
                events.append(validate(seen.event, catalog, hints=False, most_values=None))
    return leading_filter(catalog, events)


def _by_type(events: Sequence[Event]) -> dict[str, list[Event]]:
    """The commonest types first."""
    types = Counter(name for event in events for name in event.event_types)
    return {name: [event for event in events if name in event.event_types] for name, _ in types.most_common(MOST)}


def _terms(catalog: Catalog, events: Sequence[Event]) -> list[Term]:
    """One for each attribute of the newest that has something short to say, different kinds first."""
    terms: list[tuple[Kind, Term]] = []
    for name, values in events[0].attributes:
        domain = catalog.domain_of(name)
        term = None if domain is None else _term(name, domain, values[0], events)
        if domain is not None and term is not None:
            terms.append((domain.kind, term))
    seen: Counter[Kind] = Counter()
    ranked = []
    for place, (kind, term) in enumerate(terms):
        ranked.append((seen[kind], _PREFERRED.index(kind), place, term))
        seen[kind] += 1
    return [term for *_, term in sorted(ranked, key=lambda one: one[:3])]


_PREFERRED = (
    Kind.ENUMERATED,
    Kind.NUMERIC,
    Kind.HIERARCHICAL,
    Kind.TEXT,
    Kind.STRING,
    Kind.TIME,
    Kind.PLACE,
    Kind.DOCUMENT,
)


def _term(name: str, domain: Domain, value: Value, events: Sequence[Event]) -> Term | None:
    match domain.kind:
        case Kind.HIERARCHICAL if domain.allows("<="):
            above = domain.hierarchy.ancestors(str(value))
            nearest = domain.hierarchy.nodes[above[0]] if above else str(value)
            return Comparison(name, "<=", nearest) if len(nearest) <= _LONGEST_VALUE else None
        case Kind.ENUMERATED if domain.allows("=") and len(str(value)) <= _LONGEST_VALUE:
            return Comparison(name, "=", str(value))
        case Kind.NUMERIC if domain.allows(">=") and isinstance(value, int | float):
            return Comparison(name, ">=", _middle(name, events))
        case Kind.TEXT | Kind.STRING if domain.allows("contains"):
            words = [word for word in str(value).split() if len(word) >= _SHORTEST_WORD and word.isalpha()]
            longest = max(words, key=len, default="")
            return ContainsWords(name, "any", (longest,)) if 0 < len(longest) <= _LONGEST_VALUE else None
        case _:
            return None


def _middle(name: str, events: Sequence[Event]) -> int | float:
    """A round number that about half of the values reach; the newest's own where there is no round one."""
    values = sorted(
        value
        for event in events
        for value in dict(event.attributes).get(name, ())
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    middle = values[len(values) // 2]
    rounded = float(f"{middle:.2g}")
    chosen = rounded if values[0] <= rounded <= values[-1] else middle
    whole = abs(chosen) < _EXACT and float(chosen).is_integer()
    return int(chosen) if whole else chosen


def _text(tree: Node, catalog: Catalog) -> str:
    return Filter.parse(print_filter(tree), catalog).text
