"""Can a conjunction match at all? If not, which of its predicates contradict each other."""

from __future__ import annotations

from tidings.language.analysis.constraints import Constraints, constraints_of
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.patterns.implication import implies, is_contradiction
from tidings.language.patterns.tree import Pattern, PatternWord, all_of, any_of
from tidings.language.predicates.kind import Fits, HasPath, HasPattern, HasWords, IsSimilar, WithinRegion
from tidings.language.tree import Comparison, Contains, Not
from tidings.paths.covering import covers
from tidings.schema.catalog import ALWAYS_BOUND, Catalog
from tidings.schema.domain import Kind

ALWAYS_SATISFIABLE = (Kind.NUMERIC, Kind.TIME)
_LONGEST_TRIED = 200  # a longer conjunction in which all predicates were needed would take seconds
_MOST_COMPARED = 100_000  # characters of patterns, each with each that must not fit: more would take seconds, too


def never_matches(conjunction: Conjunction, catalog: Catalog) -> bool:
    """Whether the conjunction is known to be impossible. False proves nothing."""
    doubtful = _doubtful(conjunction, catalog)
    return bool(doubtful) and _impossible(doubtful, catalog)


def contradiction(conjunction: Conjunction, catalog: Catalog) -> Conjunction | None:
    """A minimal set of predicates that contradict each other; None if none was found."""
    if not never_matches(conjunction, catalog):
        return None
    if len(conjunction) > _LONGEST_TRIED:
        return conjunction
    return _needed((), conjunction, catalog, grown=False)


def _needed(given: Conjunction, conjunction: Conjunction, catalog: Catalog, grown: bool) -> Conjunction:
    """The predicates that are needed, with those given, for a contradiction (Junker's QuickXplain)."""
    if grown and _impossible(given, catalog):
        return ()
    if len(conjunction) == 1:
        return conjunction
    first, second = conjunction[: len(conjunction) // 2], conjunction[len(conjunction) // 2 :]
    later = _needed(given + first, second, catalog, grown=True)
    return _needed(given + later, first, catalog, grown=bool(later)) + later


def impossible(constraints: Constraints) -> bool:
    """Whether the demands exclude each other, whatever the catalog's event types allow."""
    return (
        any(not ranges for ranges in constraints.ranges.values())
        or bool(constraints.unbound & (constraints.bound | set(ALWAYS_BOUND)))
        or bool(constraints.members & constraints.strangers)
        or any(not bits for bits in (*constraints.relations.values(), *constraints.linear.values()))
        or any(not ranges for ranges in (*constraints.ahead.values(), *constraints.ends.values()))
        or _fits_exclude(constraints)
        or any(WithinRegion(one.region, not one.negated) in constraints.regions for one in constraints.regions)
        or any(excludes(absent, wanted) for absent in constraints.absent_words for wanted in constraints.words)
        or any(_excludes_path(one, other) for one in constraints.paths if one.negated for other in constraints.paths)
        or any(
            _excludes_text(one, other) for one in constraints.similar if one.negated for other in constraints.similar
        )
    )


def _fits_exclude(constraints: Constraints) -> bool:
    """Whether a string that fits one pattern always fits one that it must not."""
    absent = [one for one in constraints.fits if one.negated]
    wanted = [one for one in constraints.fits if not one.negated]
    characters = sum(len(segment) for one in wanted for segment in one.pattern.segments)
    if len(absent) * (len(wanted) + characters) > _MOST_COMPARED:
        return False
    return any(fit_exclude(one, other) for one in absent for other in wanted)


def _patterns_exclude(constraints: Constraints, catalog: Catalog) -> bool:
    """Whether a pattern cannot hold, or is excluded by one that must not."""
    wanted = [one for one in constraints.patterns if not one.negated]
    absent = [(one.attribute, one.pattern) for one in constraints.patterns if one.negated]
    if wanted or absent:
        absent += [(one.attribute, pattern_of_words(one)) for one in constraints.absent_words]
        wanted += [HasPattern(one.attribute, pattern_of_words(one)) for one in constraints.words]
    return any(is_contradiction(one.pattern, language_of(one.attribute, catalog)) for one in wanted) or any(
        one.attribute == attribute and implies(one.pattern, pattern, language_of(attribute, catalog))
        for one in wanted
        for attribute, pattern in absent
    )


def pattern_of_words(wanted: HasWords) -> Pattern:
    """What `contains any` or `contains all` says, as a pattern."""
    words: list[Pattern] = [PatternWord(word) for word in wanted.words]
    return any_of(words) if wanted.quantifier == "any" else all_of(words)


def language_of(attribute: str, catalog: Catalog) -> str | None:
    domain = catalog.domain_of(attribute)
    assert domain is not None
    return domain.language


def excludes(absent: HasWords, wanted: HasWords) -> bool:
    """Whether a value with the wanted words always has the absent ones."""
    if absent.attribute != wanted.attribute:
        return False
    return implies_words(wanted, absent)


def _excludes_path(absent: HasPath, wanted: HasPath) -> bool:
    """Whether a document with the wanted node always has the absent one."""
    same = absent.attribute == wanted.attribute and not wanted.negated
    return same and covers(absent.path, wanted.path)


def _excludes_text(absent: IsSimilar, wanted: IsSimilar) -> bool:
    """Whether what is as similar as wanted is always as similar as it must not be."""
    same = (absent.attribute, absent.text) == (wanted.attribute, wanted.text) and not wanted.negated
    return same and absent.least <= wanted.least


def fit_exclude(absent: Fits, wanted: Fits) -> bool:
    """Whether a string that fits the wanted pattern always fits the absent one."""
    same = absent.attribute == wanted.attribute and not wanted.negated
    return same and absent.pattern.covers(wanted.pattern)


def implies_words(stronger: HasWords, weaker: HasWords) -> bool:
    """Whether every value that satisfies the one satisfies the other."""
    has, needs = set(stronger.words), set(weaker.words)
    if stronger.quantifier == "all":
        return needs <= has if weaker.quantifier == "all" else bool(needs & has)
    if weaker.quantifier == "any":
        return has <= needs
    return len(needs) == 1 and has == needs


def _doubtful(conjunction: Conjunction, catalog: Catalog) -> Conjunction:
    """The literals that need arithmetic. Plain comparisons can only contradict each other on the same attribute, so in
    the common case, each attribute once, there are none."""
    seen: set[str] = set()
    repeated: set[str] = set()
    for literal in conjunction:
        if type(literal) is Comparison:
            domain = catalog.domain_of(literal.attribute)
            if domain is None or not (domain.kind in ALWAYS_SATISFIABLE or literal.operator == "="):
                return conjunction
        elif type(literal) is not Contains:
            return conjunction
        (repeated if literal.attribute in seen else seen).add(literal.attribute)
    if not repeated:
        return ()
    return tuple([literal for literal in conjunction if literal.attribute in repeated])  # type: ignore[union-attr]


def _impossible(conjunction: Conjunction, catalog: Catalog) -> bool:
    constraints = constraints_of([for_one_value(literal, catalog) for literal in conjunction], catalog)  # type: ignore[arg-type]
    return impossible(constraints) or _patterns_exclude(constraints, catalog)


def for_one_value(literal: Literal, catalog: Catalog) -> Literal:
    """Where an attribute has one value only, `contains` is `=`."""
    predicate = literal.term if isinstance(literal, Not) else literal
    if isinstance(predicate, Contains) and not catalog.may_be_multiple(predicate.attribute):
        equal = Comparison(predicate.attribute, "=", predicate.value, predicate.at)
        return Not(equal) if isinstance(literal, Not) else equal
    return literal
