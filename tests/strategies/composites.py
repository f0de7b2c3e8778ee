"""Generated composites: every operator and option, names used where they are visible.

`composites(filters)` takes the filters of the leaves (trees, bound or not), so that an evaluator can choose few that
match often; `AUCTIONS` is the schema of the examples."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time

from hypothesis import strategies as st

from tests.docs.pages import ROOT
from tidings.language.composites.chains import takes_no_time
from tidings.language.composites.tree import (
    Absent,
    Before,
    Both,
    Composite,
    Condition,
    Either,
    Every,
    EveryDay,
    Leaf,
    Nth,
    Part,
    Root,
    Select,
    Selection,
    Times,
    Unless,
    Without,
    expiring,
    visible,
)
from tidings.language.tree import AttributeComparison, Comparison, LinearComparison, Node
from tidings.schema.domain import COMPARISONS
from tidings.schema.files import read_catalog
from tidings.schema.values import UNITS, Instant, Span

AUCTIONS = read_catalog(ROOT / "examples" / "composites" / "schema.json")[0]
SPANS = tuple(Span(seconds * UNITS["s"]) for seconds in (1, 2, 3, 5, 10))
SELECTIONS: tuple[Selection, ...] = ("all", "last", 1, 2)
TIME_LEAVES = (
    Every(Span(2 * UNITS["s"])),
    Every(Span(5 * UNITS["min"])),
    EveryDay(time(9, 0), "Europe/Athens"),
    EveryDay(time(0, 0, 30)),
    EveryDay(time(23, 59), "+05:30"),
)
_NUMBERS = (-2, 0, 0.5, 1, 3)


class _Names:
    """Gives each part another name."""

    def __init__(self) -> None:
        self.given = 0

    def draw(self, draw: st.DrawFn) -> str | None:
        if not draw(st.booleans()):
            return None
        self.given += 1
        return f"p{self.given}"


@st.composite
def composites(
    draw: st.DrawFn,
    filters: Sequence[Node],
    depth: int = 4,
    attributes: Sequence[str] = (),
    by: Sequence[str] = (),
    time_leaves: bool = False,
    spans: Sequence[Span] = SPANS,
) -> Composite:
    """Trees up to so deep. `where` compares the attributes, all numeric; `by` are the keys to choose from."""
    maker = _Maker(draw, filters, attributes, time_leaves, spans)
    tree: Root = maker.part(depth)
    if draw(st.integers(0, 7)) == 0:
        tree = Absent(maker.part(depth - 1), max(maker.span(), Span(UNITS["s"])))
    keys = tuple(draw(st.lists(st.sampled_from(by), unique=True))) if by and not time_leaves else ()
    start = draw(st.none() | st.just(Instant.parse("2026-05-01T00:00:00Z")))
    span = draw(st.none() | st.sampled_from(spans))
    expired = draw(st.booleans()) and next(expiring(tree), None) is not None
    return Composite(tree, keys, start, span, expired)


class _Maker:
    def __init__(
        self,
        draw: st.DrawFn,
        filters: Sequence[Node],
        attributes: Sequence[str],
        time_leaves: bool,
        spans: Sequence[Span],
    ) -> None:
        self.draw, self.filters, self.attributes, self.spans = draw, filters, attributes, spans
        self.time_leaves = time_leaves
        self.names = _Names()

    def span(self) -> Span:
        return self.draw(st.sampled_from(self.spans))

    def leaf(self) -> Part:
        name = self.names.draw(self.draw)
        if self.time_leaves and self.draw(st.integers(0, 4)) == 0:
            chosen = self.draw(st.sampled_from(TIME_LEAVES))
            return Every(chosen.span, name) if isinstance(chosen, Every) else EveryDay(chosen.clock, chosen.zone, name)
        return Leaf(self.draw(st.sampled_from(self.filters)), name)

    def part(self, depth: int) -> Part:
        forms = (
            ("leaf", "or", "before", "before", "and", "without", "unless", "nth", "times") if depth > 0 else ("leaf",)
        )
        match self.draw(st.sampled_from(forms)):
            case "or":
                left, right = self.part(depth - 1), self.part(depth - 1)
                return Either(left, right, self.frame(left, right))
            case "before" | "without" as form:
                left, right = self.part(depth - 1), self.part(depth - 1)
                known = (*visible(left), *visible(right))
                without = self.without(depth, known) if form == "without" else None
                return Before(left, right, self.span(), *self.options(), self.where(known), without)
            case "and":
                left, right = self.part(depth - 1), self.part(depth - 1)
                known = (*visible(left), *visible(right))
                return Both(left, right, self.span(), *self.options(), self.where(known))
            case "unless":
                term = self.part(depth - 1)
                known = visible(term)
                return Unless(term, self.without(depth, known), self.span(), self.where(known))
            case "nth":
                term = self.part(depth - 1)
                return Nth(term, self.draw(st.integers(1, 3)), self.frame(term))
            case "times":
                return Times(self.part(depth - 1), self.draw(st.integers(1, 3)), self.span())
            case _:
                return self.leaf()

    def frame(self, *operands: Part) -> Span | None:
        """Not where it would mean nothing."""
        return None if all(map(takes_no_time, operands)) or self.draw(st.booleans()) else self.span()

    def options(self) -> tuple[Select, bool, bool]:
        select = Select(self.draw(st.sampled_from(SELECTIONS)), self.draw(st.sampled_from(SELECTIONS)))
        return select, self.draw(st.booleans()), self.draw(st.booleans())

    def without(self, depth: int, known: tuple[str, ...]) -> Without:
        term = self.part(depth - 1)
        own = visible(term)
        conditions = self.where((*known, *own)) if own else ()
        return Without(term, tuple(condition for condition in conditions if set(condition.parts) & set(own)))

    def where(self, names: tuple[str, ...]) -> tuple[Condition, ...]:
        if not names or not self.attributes:
            return ()
        return tuple(self.condition(names) for _ in range(self.draw(st.sampled_from((0, 0, 1, 2)))))

    def condition(self, names: tuple[str, ...]) -> Condition:
        draw = self.draw
        name, attribute = draw(st.sampled_from(names)), draw(st.sampled_from(self.attributes))
        operator = draw(st.sampled_from(COMPARISONS))
        form = draw(st.sampled_from(("constant", "attribute", "linear")))
        if form == "constant":
            return Condition(name, Comparison(attribute, operator, draw(st.sampled_from(_NUMBERS))))
        other, other_attribute = draw(st.sampled_from(names)), draw(st.sampled_from(self.attributes))
        scale, offset = draw(st.sampled_from(_NUMBERS)), draw(st.sampled_from(_NUMBERS))
        if form == "attribute" or (scale == 1 and not offset):
            return Condition(name, AttributeComparison(attribute, operator, other_attribute), other)
        return Condition(name, LinearComparison(attribute, operator, scale, other_attribute, offset), other)
