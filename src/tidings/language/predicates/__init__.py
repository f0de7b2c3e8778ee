"""The table of predicate kinds. Parser, printer, binder, normal form, constraints and matchers read it.

To add a kind: write its node class in `tree` (and put it into `Predicate`), a module here with its `PredicateKind`, and
its meaning in `matching.naive`. A kind that no interval can say demands `Verified`; then every matcher evaluates it on
the events that satisfy the rest of the filter. Importing this package fails when a class of `Predicate` has no entry,
and mypy reports where a `match` lacks it.
"""

from __future__ import annotations

from typing import Any, get_args

from tidings.language.cesql.attributes import Attributes
from tidings.language.cesql.filters import attribute_names
from tidings.language.predicates.between import BETWEEN
from tidings.language.predicates.comparison import (
    ATTRIBUTE_COMPARISON,
    COMPARISON,
    LINEAR_COMPARISON,
    NOW_COMPARISON,
)
from tidings.language.predicates.contains import CONTAINS, CONTAINS_WORDS
from tidings.language.predicates.exists import EXISTS
from tidings.language.predicates.in_dialect import IN_DIALECT
from tidings.language.predicates.kind import Form, PredicateKind
from tidings.language.predicates.like import LIKE
from tidings.language.predicates.membership import IN
from tidings.language.predicates.pattern import CONTAINS_PATTERN
from tidings.language.predicates.place import INSIDE, NEAR
from tidings.language.predicates.similar import SIMILAR
from tidings.language.predicates.xpath import XPATH
from tidings.language.tree import InDialect, Not, Predicate
from tidings.schema.catalog import Catalog

_ALL: tuple[PredicateKind[Any], ...] = (
    COMPARISON,
    ATTRIBUTE_COMPARISON,
    LINEAR_COMPARISON,
    NOW_COMPARISON,
    NEAR,
    INSIDE,
    IN,
    BETWEEN,
    LIKE,
    CONTAINS,
    CONTAINS_WORDS,
    CONTAINS_PATTERN,
    SIMILAR,
    XPATH,
    EXISTS,
    IN_DIALECT,
)
KINDS: dict[type[Any], PredicateKind[Any]] = {kind.node: kind for kind in _ALL}
FORMS: dict[str, Form] = {form.opening: form for kind in _ALL for form in kind.forms}

if set(KINDS) != set(get_args(Predicate)):
    odd = sorted(node.__name__ for node in set(KINDS) ^ set(get_args(Predicate)))
    raise TypeError(f"every class of tree.Predicate needs one entry here: {', '.join(odd)}")


def kind_of(predicate: Predicate) -> PredicateKind[Any]:
    return KINDS[type(predicate)]


def attributes_of(literal: Predicate | Not) -> tuple[str, ...]:
    """The attributes that a predicate, or its negation, tests."""
    predicate: Any = literal.term if type(literal) is Not else literal
    others = KINDS[type(predicate)].other_attributes
    if not others:
        return (predicate.attribute,)
    return (predicate.attribute, *(getattr(predicate, name) for name in others))


def attributes_read(literal: Predicate | Not, catalog: Catalog) -> tuple[str, ...]:
    """The attributes whose values decide it: an expression in another language also reads what may be missing."""
    predicate: Any = literal.term if type(literal) is Not else literal
    if not isinstance(predicate, InDialect):
        return attributes_of(predicate)
    context = Attributes(catalog)
    names = map(context.core_name, sorted(attribute_names(predicate.meaning)))
    return tuple(dict.fromkeys((predicate.attribute, *(name for name in names if name is not None))))


def chosen_attributes(literal: Predicate | Not) -> tuple[str, ...]:
    """The attributes of which the predicate tests one chosen value."""
    predicate: Any = literal.term if type(literal) is Not else literal
    return attributes_of(predicate) if KINDS[type(predicate)].chooses else ()
