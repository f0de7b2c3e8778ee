"""Explains why an event matches a filter or not: each predicate of each alternative with the event's values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tidings.errors import Explained, MatchingError, expect
from tidings.events import Event
from tidings.events.event import NOW, POSITION, Bindings
from tidings.language import Filter, print_filter
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.predicates import attributes_of
from tidings.language.tree import NowComparison
from tidings.matching.choice import satisfied
from tidings.matching.evidence import Mark, marks_of, note_of
from tidings.matching.naive import compared
from tidings.schema.catalog import Catalog
from tidings.schema.values import Instant, Place, Value

_LONGEST_SEEN = 1_000  # characters of a value in one line


@dataclass(frozen=True, slots=True)
class Finding:
    """One predicate: whether some value satisfies it, and the values of each attribute it tests. `marks` are what it is
    about in them; `note` says how far away a place is."""

    predicate: str
    holds: bool
    values: tuple[tuple[str, tuple[Value, ...]], ...]
    marks: tuple[Mark, ...] = ()
    note: str = ""

    @property
    def seen(self) -> str:
        """The values in one line: `price is 900`, `brand is not bound`."""
        seen = ", ".join(f"{name} is {_listed(values)}" for name, values in self.values)
        return f"{seen}: {self.note}" if self.note else seen


@dataclass(frozen=True, slots=True)
class Alternative:
    """One conjunction of the normal form. `note` explains why it fails although each predicate holds individually."""

    matches: bool
    findings: tuple[Finding, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    filter: str
    event: str
    matches: bool
    alternatives: tuple[Alternative, ...]

    def __str__(self) -> str:
        """One line for the filter, then one per predicate: ✓ or ✗, the predicate, the event's values."""
        lines = [f"event {self.event} {'matches' if self.matches else 'does not match'} {self.filter}"]
        for number, alternative in enumerate(self.alternatives):
            lines += ["  or"] if number else []
            for finding in alternative.findings:
                lines.append(f"  {'✓' if finding.holds else '✗'} {finding.predicate}   ({finding.seen})")
            lines += [f"  ✗ {alternative.note}"] if alternative.note else []
        return "\n".join(lines)

    __repr__ = __str__

    def as_json(self) -> dict[str, Any]:
        return {
            "filter": self.filter,
            "event": self.event,
            "matches": self.matches,
            "alternatives": [
                {
                    "matches": alternative.matches,
                    "note": alternative.note,
                    "predicates": [
                        {
                            "predicate": finding.predicate,
                            "holds": finding.holds,
                            "values": {name: [_plain(v) for v in values] for name, values in finding.values},
                            "marks": [mark._asdict() for mark in finding.marks],
                            "note": finding.note,
                        }
                        for finding in alternative.findings
                    ],
                }
                for alternative in self.alternatives
            ],
        }


class TooManySteps(Explained, MatchingError):
    """(steps that it would take, steps that are allowed)"""

    steps: int
    most: int
    template = "this explanation takes {steps!n} steps, more than {most!n}; use a filter with fewer alternatives"


def explain(
    filter: Filter,
    event: Event,
    catalog: Catalog,
    most_steps: int | None = None,
    accepted: Instant | None = None,
    position: int | None = None,
) -> Explanation:
    """Evaluates each alternative of the filter on the event. Raises TooManySteps, if `most_steps` are given. `accepted`
    is what `now` means; else it is the event's own time. Statistics are those at the position, else the newest."""
    expect(filter, Filter, "explain", "filter", "a Filter (Filter.parse takes a text)")
    expect(event, Event, "explain", "event", "an Event (validate takes a dict, Matcher.explain too)")
    expect(catalog, Catalog, "explain", "catalog", "a tidings.Schema")
    bindings = event.bindings(accepted)
    if position is not None:
        bindings[POSITION] = (position,)
    if most_steps is not None and (steps := _steps(filter, bindings)) > most_steps:
        raise TooManySteps(steps, most_steps)
    alternatives = tuple(_alternative(conjunction, bindings, catalog) for conjunction in filter.conjunctions)
    return Explanation(filter.text, event.id, any(a.matches for a in alternatives), alternatives)


def _steps(filter: Filter, event: Bindings) -> int:
    """An upper bound: each predicate is evaluated on each value of its attributes, once alone and once together with
    the others; a text takes a step for every 8 characters. Attributes compared in a cycle take the square of their
    values (`value_graph`)."""
    steps = 0
    for conjunction in filter.conjunctions:
        pairs = set()
        for literal in conjunction:
            names = attributes_of(literal)
            steps += 2 * sum(
                1 + len(v) // 8 if isinstance(v, str) else 1 for name in names for v in event.get(name, ())
            )
            if len(together := frozenset(compared(literal))) > 1:
                pairs.add(together)
        steps += sum(max(len(event.get(name, ())) for name in pair) ** 2 for pair in _closing(pairs))
    return steps


def _closing(pairs: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Those that close a cycle of the pairs before them."""
    joined: dict[str, set[str]] = {}
    found = []
    for pair in pairs:
        less, more = sorted((joined.setdefault(name, {name}) for name in pair), key=len)
        if less is more:
            found.append(pair)
        else:
            more |= less
            joined.update(dict.fromkeys(less, more))
    return found


def _alternative(conjunction: Conjunction, event: Bindings, catalog: Catalog) -> Alternative:
    findings = tuple(_finding(literal, event, catalog) for literal in conjunction)
    note = ""
    fits = all(finding.holds for finding in findings)
    for group in _groups(conjunction) if fits else ():
        if not satisfied(tuple(group), event, catalog):
            names = dict.fromkeys(name for literal in group for name in compared(literal))
            several = [name for name in names if len(event[name]) > 1]
            note = f"each holds for some value, but no one value of {' and '.join(several)} satisfies them all"
            fits = False
            break
    return Alternative(fits, findings, note)


def _groups(conjunction: Conjunction) -> list[list[Literal]]:
    """The literals that must agree on a choice of values."""
    groups: list[tuple[set[str], list[Literal]]] = []
    for literal in conjunction:
        names = set(compared(literal))
        joined = [group for group in groups if group[0] & names]
        literals = [one for _, members in joined for one in members]
        names = names.union(*(known for known, _ in joined))
        groups = [group for group in groups if group not in joined] + [(names, [*literals, literal])]
    return [members for _, members in groups]


def _finding(literal: Literal, event: Bindings, catalog: Catalog) -> Finding:
    values = tuple((name, event.get(name, ())) for name in dict.fromkeys(attributes_of(literal)))
    if isinstance(literal, NowComparison):
        values += (("now", event.get(NOW, ())),)
    holds = satisfied((literal,), event, catalog)
    return Finding(
        print_filter(literal), holds, values, marks_of(literal, event, catalog), note_of(literal, event, catalog)
    )


def _listed(values: tuple[Value, ...]) -> str:
    if not values:
        return "not bound"
    shown = [f"'{_short(value)}'" if isinstance(value, str | Instant) else str(value) for value in values[:8]]
    if len(values) > 8:
        shown.append(f"… ({len(values)} values)")
    return shown[0] if len(values) == 1 else "{" + ", ".join(shown) + "}"


def _short(value: Value) -> Value | str:
    """A long text, such as a document, by its beginning."""
    text = str(value)
    return value if len(text) <= _LONGEST_SEEN else f"{text[:_LONGEST_SEEN]}…"


def _plain(value: Value) -> object:
    return str(value) if isinstance(value, Instant) else value.pair if isinstance(value, Place) else value
