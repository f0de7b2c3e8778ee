"""Warnings for the author of a filter: it cannot match, or it may not mean what it seems to."""

from __future__ import annotations

from collections.abc import Iterator

from tidings.errors import nearest
from tidings.language.analysis.satisfiability import ALWAYS_SATISFIABLE, contradiction, never_matches
from tidings.language.cesql.cloud_event import CONTEXT_ATTRIBUTES
from tidings.language.cesql.filters import attribute_names
from tidings.language.normal_form import Conjunction, Literal
from tidings.language.patterns.stop_words import frequent_words
from tidings.language.patterns.tree import AllOf, Lacks
from tidings.language.predicates import attributes_of, kind_of
from tidings.language.printer import print_filter
from tidings.language.tree import (
    And,
    Comparison,
    Contains,
    ContainsPattern,
    Exists,
    In,
    InDialect,
    Node,
    Not,
    Or,
    Predicate,
    XPath,
)
from tidings.paths.outline import unreachable
from tidings.paths.tree import Path
from tidings.paths.warnings import path_warnings
from tidings.schema.catalog import EVENT_TYPE, Catalog

_MOST_SHOWN = 3
# Characters of alternatives in which contradictions are sought, all together: of 1.5 KB of text an author can make
# 1,024 alternatives of 64 predicates each, whose contradictions took a quarter of a second to rule out.
_MOST_SEARCHED = 1 << 15
_LONGEST_SHOWN = 200


def advice(tree: Node, conjunctions: tuple[Conjunction, ...], catalog: Catalog) -> tuple[str, ...]:
    """Warnings in plain words; none for most filters."""
    expression = _whole_expression(tree)
    if expression is not None:  # the other warnings speak of what its author did not write
        found = dict.fromkeys(_unknown_names(expression, catalog))
    else:
        found = dict.fromkeys((*_traps(tree, catalog), *_equalities(conjunctions, catalog)))
    impossible = [one for one in searched(conjunctions) if never_matches(one, catalog)]
    if impossible:
        whole = len(impossible) == len(conjunctions)
        subject = "this filter can never match" if whole else "one alternative can never match"
        for conjunction in impossible[:_MOST_SHOWN]:
            clash = contradiction(conjunction, catalog)
            assert clash is not None
            found[f"{subject}: {_clash(clash)}"] = None
    return tuple(found)


def searched(conjunctions: tuple[Conjunction, ...]) -> Iterator[Conjunction]:
    """The first alternatives, as far as the time for warnings goes."""
    lengths: dict[int, int] = {}  # of literals by identity: the alternatives share them
    left = _MOST_SEARCHED
    for conjunction in conjunctions:
        for literal in conjunction:
            if id(literal) not in lengths:
                lengths[id(literal)] = len(print_filter(literal))
            left -= lengths[id(literal)]
            if left < 0:
                return
        yield conjunction


def _whole_expression(tree: Node) -> InDialect | None:
    """The expression in another language that the filter is a translation of."""
    last = tree.terms[-1] if isinstance(tree, And) else tree
    return last if isinstance(last, InDialect) and last.stage != "written" else None


def _unknown_names(expression: InDialect, catalog: Catalog) -> Iterator[str]:
    known = (*CONTEXT_ATTRIBUTES, *(name for name in catalog.attribute_names if "." not in name))
    for name in sorted(attribute_names(expression.meaning)):
        if name not in known:
            word = nearest(name, known)
            hint = f"; did you mean {word!r}?" if word else ""
            yield f"the schema has no attribute {name!r} yet, so every event lacks it{hint}"


def may_warn(attribute: str, operator: str, catalog: Catalog) -> bool:
    """Whether a comparison of the attribute with some constant, or `contains`, gets a warning by itself. False: only
    what else the filter says of the attribute can be the reason for one."""
    domain = catalog.domain_of(attribute)
    assert domain is not None
    if domain.open:
        return True  # the value may be unknown
    satisfiable = operator in ("=", "contains") or domain.kind in ALWAYS_SATISFIABLE
    return excludes_blindly(attribute, operator, catalog) or not satisfiable or not catalog.is_used(attribute)


def excludes_blindly(attribute: str, operator: str, catalog: Catalog) -> bool:
    """Whether the comparison excludes a value of an attribute that may have several values or none."""
    return operator == "!=" and (catalog.may_be_multiple(attribute) or catalog.may_be_missing(attribute))


def _clash(predicates: Conjunction) -> str:
    if len(predicates) == 1:
        return f"no value satisfies {_shown(predicates[0])}"
    texts = [_shown(predicate) for predicate in predicates[: _MOST_SHOWN * 2]]
    if len(texts) < len(predicates):
        texts.append(f"{len(predicates) - len(texts):,} more")
    return f"{texts[0]} contradicts {' and '.join(texts[1:])}"


def _shown(predicate: Node) -> str:
    text = print_filter(predicate)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _traps(tree: Node, catalog: Catalog) -> Iterator[str]:
    """Predicates on attributes that no event has, and those that exclude a value where there may be several or none."""
    predicates = list(_predicates(tree, catalog))
    # Whoever also says what an attribute should be does not expect events without it.
    considered = {
        name for node, negated, _ in predicates if not _excludes(node, negated) for name in attributes_of(node)
    }
    for node, negated, event_types in predicates:
        excludes = _excludes(node, negated)
        literal = Not(node) if negated else node
        for name in attributes_of(node):
            if not catalog.is_used(name):
                if not (negated and type(node) is Exists):
                    yield f"no event type has the attribute {name!r} yet: nothing can satisfy {_shown(node)}"
            elif excludes and name not in considered and catalog.may_be_missing(name, event_types):
                considered.add(name)  # once is enough
                yield _missing(literal, name)
            if excludes and kind_of(node).chooses and catalog.may_be_multiple(name):
                yield _avoiding(literal, name)
        yield from _unknown_values(node, catalog)
        if isinstance(node, ContainsPattern):
            yield from _pattern_notes(node, negated, catalog)
        if words := frequent_words(node, catalog.domain_of(node.attribute)):
            named = f"the word{'s' if len(words) > 1 else ''} {' and '.join(map(repr, words))}"
            yield f"most texts contain {named}, so {_shown(node)} says little"
        if isinstance(node, XPath) and node.path is not None:
            yield from _path_notes(node, node.path, catalog)


def _path_notes(node: XPath, path: Path, catalog: Catalog) -> Iterator[str]:
    """Traps of XPath, and paths that the grammar does not allow."""
    for warning in path_warnings(path):
        yield f"{_shown(node)}: {warning}"
    domain = catalog.domain_of(node.attribute)
    outline = domain.document.outline if domain is not None else None
    if outline is not None and (missing := unreachable(path, outline)) is not None:
        yield f"no valid document matches {_shown(node)}: {missing}"


def _pattern_notes(node: ContainsPattern, negated: bool, catalog: Catalog) -> Iterator[str]:
    """What a pattern may not mean."""
    terms = node.pattern.terms if isinstance(node.pattern, AllOf) else (node.pattern,)
    if not negated and catalog.may_be_multiple(node.attribute) and any(isinstance(term, Lacks) for term in terms):
        yield (
            f"{node.attribute!r} may have several values: {_shown(node)} matches as soon as one of them fits; "
            f"to exclude words from all of them write {node.attribute} not contains (…)"
        )


def _predicates(tree: Node, catalog: Catalog) -> Iterator[tuple[Predicate, bool, frozenset[str]]]:
    """Each predicate, whether it is negated, and event types that an event needs to get there."""
    waiting: list[tuple[Node, bool, frozenset[str]]] = [(tree, False, frozenset())]
    for node, negated, event_types in waiting:  # which grows while it is walked
        if isinstance(node, (And, Or)):
            if isinstance(node, And) and not negated:
                event_types |= {name for term in node.terms if (name := _required_type(term, catalog)) is not None}
            waiting += [(term, negated, event_types) for term in node.terms]
        elif isinstance(node, Not):
            waiting.append((node.term, not negated, event_types))
        else:
            yield node, negated, event_types


def _excludes(predicate: Predicate, negated: bool) -> bool:
    return type(predicate) is not Exists and (negated or getattr(predicate, "operator", "") == "!=")


def _required_type(term: Node, catalog: Catalog) -> str | None:
    match term:
        case Contains(attribute, value) | Comparison(attribute, "=", value) if attribute == EVENT_TYPE:
            return str(value) if catalog.event_type(str(value)) else None
    return None


def _unknown_values(predicate: Predicate, catalog: Catalog) -> Iterator[str]:
    """Values that no publisher has used yet, as far as an open enumeration knows: often a misspelling."""
    domain = catalog.domain_of(predicate.attribute)
    if domain is None or not domain.open:
        return
    match predicate:
        case Comparison(_, _, value) | Contains(_, value):
            named: tuple[object, ...] = (value,)
        case In(_, values):
            named = values
        case _:
            return
    for value in map(str, named):
        if not domain.names(value):
            word = nearest(value, domain.values)
            hint = f"; did you mean {word!r}?" if word else ""
            yield f"{predicate.attribute!r} has no value {value!r} yet{hint}"


def _missing(literal: Literal, attribute: str) -> str:
    return (
        f"{attribute!r} may be missing: events without it do not match {_shown(literal)}; "
        f"to include them, add: or {print_filter(Not(Exists(attribute)))}"
    )


def _avoiding(literal: Literal, attribute: str) -> str:
    return (
        f"{attribute!r} may have several values: {_shown(literal)} matches as soon as one of them fits; "
        f"to exclude a value altogether write not ({attribute} contains …)"
    )


def _equalities(conjunctions: tuple[Conjunction, ...], catalog: Catalog) -> Iterator[str]:
    """Two equalities on one attribute, where `contains` was meant."""
    for conjunction in conjunctions:
        equal: set[str] = set()
        for literal in conjunction:
            if isinstance(literal, Comparison) and literal.operator == "=":
                attribute = literal.attribute
                if attribute in equal and catalog.may_be_multiple(attribute):
                    yield (
                        f"{attribute!r} may have several values, but two '=' are about the same value and "
                        f"exclude each other: write {attribute} contains … and {attribute} contains …"
                    )
                equal.add(attribute)
