"""What in an event's values a predicate is about, for people: the words it names, the category a value lies under, how
far away a place is. It explains an answer and never decides one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple, Never

from tidings.events.event import Bindings
from tidings.language.dialects import trouble_of
from tidings.language.like import LikePattern, fitted, pattern_of
from tidings.language.normal_form import Literal
from tidings.language.patterns.tree import PatternWord, words_in
from tidings.language.similarity import cosine
from tidings.language.stems import stem
from tidings.language.tree import (
    And,
    AttributeComparison,
    Between,
    Comparison,
    Contains,
    ContainsPattern,
    ContainsWords,
    Exists,
    In,
    InDialect,
    Inside,
    Like,
    LinearComparison,
    Near,
    Not,
    NowComparison,
    Or,
    Predicate,
    Similar,
    XPath,
)
from tidings.language.words import runs_of, words_of
from tidings.matching.naive import statistics_for
from tidings.matching.path_evidence import path_note, path_spans
from tidings.paths.tree import Path
from tidings.schema.catalog import Catalog
from tidings.schema.domain import Kind
from tidings.schema.hierarchy import SEPARATOR
from tidings.schema.region import METRES, distance, is_inside
from tidings.schema.values import Place

MOST_MARKS = 20  # in one value
_MOST_VALUES = 8


class Mark(NamedTuple):
    """The characters from `start` until before `end` of a value, the `place`-th of its attribute."""

    attribute: str
    place: int
    start: int
    end: int


def marks_of(literal: Literal, event: Bindings, catalog: Catalog) -> tuple[Mark, ...]:
    """Also of a negation, which may fail because of them."""
    predicate = literal.term if isinstance(literal, Not) else literal
    match predicate:
        case ContainsWords(attribute, _, words):
            return tuple(_words(attribute, frozenset(words).__contains__, event))
        case Comparison(attribute, _, value) | Contains(attribute, value):
            return tuple(_categories(attribute, (value,), event, catalog))
        case ContainsPattern(attribute, pattern):
            domain = catalog.domain_of(attribute)
            assert domain is not None
            return tuple(_words(attribute, _finder(words_in(pattern), domain.language), event))
        case Similar(attribute, similar):
            domain = catalog.domain_of(attribute)
            assert domain is not None
            alike = [PatternWord(word, "~" if domain.language else "") for word in words_of(similar)]
            return tuple(_words(attribute, _finder(alike, domain.language), event))
        case Like(attribute, form, text):
            return tuple(_fitted(attribute, pattern_of(form, text), event))
        case In(attribute, values):
            return tuple(_categories(attribute, values, event, catalog))
        case XPath(attribute, _, path):
            return () if path is None else tuple(_selected(attribute, path, event))
        case AttributeComparison() | LinearComparison() | NowComparison() | Between():
            return ()
        case Near() | Inside() | Exists() | InDialect():
            return ()
        case Not() | And() | Or():  # which no literal is
            return ()
        case _:
            _unlisted: Never = predicate  # for mypy; kinds registered from elsewhere have no evidence
            return ()


def note_of(literal: Literal, event: Bindings, catalog: Catalog) -> str:
    """How far away the places of the event are, where the words of a pattern are, how similar texts are, why an
    expression ended in an error, or ''."""
    predicate = literal.term if isinstance(literal, Not) else literal
    if isinstance(predicate, ContainsPattern):
        return _placed(predicate, event, catalog)
    if isinstance(predicate, Similar):
        domain = catalog.domain_of(predicate.attribute)
        assert domain is not None
        known = statistics_for(predicate.attribute, event, catalog)
        alike = [cosine(predicate.text, str(one), domain.language, known) for one in event.get(predicate.attribute, ())]
        return f"similarity {max(alike):.3f}" if alike else ""
    if isinstance(predicate, XPath) and predicate.path is not None:
        return path_note(predicate.path, [str(one) for one in event.get(predicate.attribute, ())])
    if isinstance(predicate, InDialect):
        return trouble_of(predicate, event)
    if not isinstance(predicate, Near | Inside):
        return ""
    places = [one for one in event.get(predicate.attribute, ()) if isinstance(one, Place)]
    told = ", ".join(_away(predicate, one) for one in places[:_MOST_VALUES])
    return f"{told}, …" if len(places) > _MOST_VALUES else told


def _finder(sought: Iterable[PatternWord], language: str | None) -> Callable[[str], bool]:
    """Whether a word is one of those sought: each distinct word is tested once, however many are sought."""
    sought = frozenset(sought)
    words = {one.word for one in sought if not one.form}
    prefixes = {one.word for one in sought if one.form == "*"}
    stems = {stem(one.word, language) for one in sought if one.form == "~" and language is not None}
    lengths = sorted({len(one) for one in prefixes})

    @cache
    def is_sought(word: str) -> bool:
        if word in words or any(word[:length] in prefixes for length in lengths):
            return True
        return bool(stems) and language is not None and stem(word, language) in stems

    return is_sought


def _words(attribute: str, is_sought: Callable[[str], bool], event: Bindings) -> Iterator[Mark]:
    for place, value in enumerate(event.get(attribute, ())):
        found, text = 0, str(value)
        marked: dict[str, bool] = {}  # by run as it is written
        for start, end in runs_of(text):
            run = text[start:end]
            if run not in marked:
                marked[run] = any(map(is_sought, words_of(run)))
            if marked[run]:
                yield Mark(attribute, place, start, end)
                found += 1
                if found == MOST_MARKS:
                    break


def _placed(predicate: ContainsPattern, event: Bindings, catalog: Catalog) -> str:
    """`'run' is word 4`, counted from 1, of each value that has some of the pattern's words."""
    domain = catalog.domain_of(predicate.attribute)
    assert domain is not None
    is_sought = _finder(words_in(predicate.pattern), domain.language)
    values = event.get(predicate.attribute, ())
    told = []
    for number, value in enumerate(values, 1):
        where = f" of value {number}" if len(values) > 1 else ""
        for place, word in enumerate(words_of(str(value)), 1):
            if is_sought(word):
                told.append(f"'{word}' is word {place}{where}")
                if len(told) > _MOST_VALUES:
                    return ", ".join((*told[:-1], "…"))
    return ", ".join(told)


def _fitted(attribute: str, pattern: LikePattern, event: Bindings) -> Iterator[Mark]:
    for place, value in enumerate(event.get(attribute, ())):
        for start, end in (fitted(pattern, str(value)) or ())[:MOST_MARKS]:
            if start < end:
                yield Mark(attribute, place, start, end)


def _selected(attribute: str, path: Path, event: Bindings) -> Iterator[Mark]:
    for place, value in enumerate(event.get(attribute, ())[:_MOST_VALUES]):
        for start, end in path_spans(path, str(value), MOST_MARKS):
            yield Mark(attribute, place, start, end)


def _categories(attribute: str, sought: tuple[object, ...], event: Bindings, catalog: Catalog) -> Iterator[Mark]:
    domain = catalog.domain_of(attribute)
    if domain is None or domain.kind is not Kind.HIERARCHICAL:
        return
    for place, value in enumerate(event.get(attribute, ())):
        above = [str(one) for one in sought if f"{value}{SEPARATOR}".startswith(f"{one}{SEPARATOR}")]
        if above:
            yield Mark(attribute, place, 0, len(max(above, key=len)))


def _away(region: Predicate, place: Place) -> str:
    latitude, longitude = place.degrees
    if isinstance(region, Near):
        unit = region.unit
        return f"{_written(distance(*region.centre.degrees, latitude, longitude) / METRES[unit])} {unit} away"
    assert isinstance(region, Inside)
    south, west, north, east = map(float, region.corners)
    if is_inside(latitude, longitude, south, west, north, east):
        return "inside"
    nearest = min(max(latitude, south), north)
    across = (longitude - west) % 360 <= (east - west) % 360
    edges = (longitude,) if across else (west, east)
    outside = min(distance(nearest, edge, latitude, longitude) for edge in edges)
    return f"{_written(outside / METRES['km'])} km outside"


def _written(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
