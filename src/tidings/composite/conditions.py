"""Whether the events of an instance satisfy a `where`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import assert_never

from tidings.language.composites.tree import Condition
from tidings.language.tree import AttributeComparison, Comparison, LinearComparison
from tidings.matching.naive import COMPARE, stands
from tidings.schema.catalog import Catalog
from tidings.schema.values import Span, Value

Values = Callable[[str, str], Sequence[Value]]
"""The values of a part's attribute; none where the part has no event or the event does not bind it."""


def all_hold(conditions: Iterable[Condition], values: Values, catalog: Catalog) -> bool:
    """Conditions are tested one by one: each may be satisfied by other values."""
    return all(_holds(condition, values, catalog) for condition in conditions)


def attributes_of(condition: Condition) -> tuple[tuple[str, str], ...]:
    """The (part, attribute) pairs that it reads."""
    compared = condition.comparison
    own = (condition.part, compared.attribute)
    if isinstance(compared, Comparison):
        return (own,)
    assert condition.other_part is not None
    assert isinstance(compared.other, str)
    return (own, (condition.other_part, compared.other))


def _holds(condition: Condition, values: Values, catalog: Catalog) -> bool:
    left, *others = (values(part, attribute) for part, attribute in attributes_of(condition))
    compared = condition.comparison
    domain = catalog.domain_of(compared.attribute)
    match compared:
        case Comparison(_, relation, constant):
            return any(stands(value, relation, constant, domain) for value in left)  # type: ignore[arg-type]
        case AttributeComparison(_, relation, _):
            return any(stands(value, relation, other, domain) for value in left for other in others[0])
        case LinearComparison(_, relation, scale, _, offset):
            number = int if isinstance(offset, Span) else float
            return any(
                COMPARE[relation](number(value), number(scale) * number(other) + number(offset))
                for value in left
                for other in others[0]
            )
        case _:
            assert_never(compared)
