"""Filters that somebody might leave standing, made from the schema and from what was published of late.

They are for whoever has none yet: short, in the language of filters, and each fits an event that really came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tidings.events import Event
from tidings.language import Filter, print_filter
from tidings.language.tree import And, Comparison, Contains, ContainsWords, Node
from tidings.schema import Catalog
from tidings.schema.catalog import EVENT_TYPE
from tidings.schema.domain import Domain, Kind
from tidings.schema.values import Value

MOST = 3
_LONGEST_VALUE = 40
_SHORTEST_WORD = 4
_EXACT = 2**53  # below it, whole numbers are written as such


def example_filters(catalog: Catalog, events: Sequence[Event]) -> list[str]:
    """Of the commonest event types, each with what its newest event says; canonical text."""
    types = Counter(name for event in events for name in event.event_types)
    found: list[str] = []
    for turn, (name, _) in enumerate(types.most_common(MOST)):
        of_type = [event for event in events if name in event.event_types]
        terms = _terms(catalog, of_type)
        rest = terms[turn % len(terms) :][:1] if terms else []
        found.append(_text(And((Contains(EVENT_TYPE, name), *rest)) if rest else Contains(EVENT_TYPE, name), catalog))
        if len(types) < MOST:  # of few types more than one each
            found += [_text(term, catalog) for term in terms if term not in rest]
    return list(dict.fromkeys(found))[:MOST]


def _terms(catalog: Catalog, events: Sequence[Event]) -> list[Node]:
    """One for each attribute of the newest that has something short to say, different kinds first."""
    terms: list[tuple[Kind, Node]] = []
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


_PREFERRED = (Kind.HIERARCHICAL, Kind.ENUMERATED, Kind.NUMERIC, Kind.TEXT, Kind.STRING, Kind.TIME)


def _term(name: str, domain: Domain, value: Value, events: Sequence[Event]) -> Node | None:
    match domain.kind:
        case Kind.HIERARCHICAL if domain.allows("<="):
            above = domain.hierarchy.ancestors(str(value))
            root = domain.hierarchy.nodes[above[-1]] if above else str(value)
            return Comparison(name, "<=", root) if len(root) <= _LONGEST_VALUE else None
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
