"""Selects the few plain filters that may get a warning and are worth parsing for it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidings.language.advice import excludes_blindly, may_warn
from tidings.language.patterns.stop_words import STOP_WORDS, has_stop_words
from tidings.language.words import words_of
from tidings.matching.boxes.predicate_table import CONTAINS, OPERATORS, PredicateTable
from tidings.matching.ragged import owners
from tidings.schema.domain import Kind

_BELOW = np.array([sign in ("<", "<=") for sign in OPERATORS])
_ABOVE = np.array([sign in (">", ">=") for sign in OPERATORS])

Integers = npt.NDArray[np.int64]


def suspects(table: PredicateTable) -> Integers:
    """The filters that may get a warning: one of their predicates gets one by itself, or several test one attribute and
    may contradict each other. `advice` has nothing to say about the others."""
    owner = owners(table.offsets)
    return np.unique(np.concatenate([owner[_traps(table)], owner[_frequent(table)], _clashes(table, owner)]))


def _frequent(table: PredicateTable) -> Integers:
    """The predicates that ask for a word that most texts contain."""
    frequent = np.zeros(len(table.attribute), bool)
    for column, name in enumerate(table.attributes):
        if has_stop_words(table.catalog.domain_of(name)):
            rows = np.flatnonzero((table.attribute == column) & (table.operator == CONTAINS))
            used, word = np.unique(table.value[rows].astype(np.int64), return_inverse=True)
            known = [STOP_WORDS.issuperset(words_of(table.vocabularies[column][one])) for one in used.tolist()]
            frequent[rows] = np.array(known, bool)[word]
    return np.flatnonzero(frequent)


def _traps(table: PredicateTable) -> Integers:
    """The predicates that get a warning by themselves. Whatever value they exclude, some always do; of the others,
    those that are equal are parsed once."""
    signs = [(name, sign) for name in table.attributes for sign in OPERATORS]
    shape = len(table.attributes), len(OPERATORS)
    risky = np.array([may_warn(*sign, table.catalog) for sign in signs]).reshape(shape)
    certain = np.array([excludes_blindly(*sign, table.catalog) for sign in signs]).reshape(shape)
    sure = np.flatnonzero(certain[table.attribute, table.operator])
    rows = np.flatnonzero((risky & ~certain)[table.attribute, table.operator])
    if not len(rows):
        return sure
    said = np.stack([table.attribute[rows], table.operator[rows], table.value[rows]], axis=1)
    _, first, like = np.unique(said, axis=0, return_index=True, return_inverse=True)
    alone = table.predicates(rows[first])
    warned = np.array([bool(alone.filter(number).warnings) for number in range(len(alone))])
    trapped: Integers = np.concatenate([sure, rows[warned[like.ravel()]]])
    return trapped


def _clashes(table: PredicateTable, owner: Integers) -> Integers:
    """The filters with several predicates on one attribute, unless these are bounds that leave room or require several
    members."""
    key = owner * len(table.attributes) + table.attribute
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    repeated = np.repeat(np.diff(starts, append=len(key)) > 1, np.diff(starts, append=len(key)))
    if not repeated.any():
        return np.zeros(0, np.int64)
    order, key = order[repeated], key[repeated]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    attribute, operator, value = table.attribute[order], table.operator[order], table.value[order]
    members, bounded, discrete = _traits(table)
    joined = np.logical_and.reduceat((operator == CONTAINS) & members[attribute], starts)
    ranged = np.logical_and.reduceat((_BELOW | _ABOVE)[operator] & bounded[attribute], starts)
    low = np.maximum.reduceat(np.where(_ABOVE[operator], value, -np.inf), starts)
    high = np.minimum.reduceat(np.where(_BELOW[operator], value, np.inf), starts)
    roomy = np.where(discrete[attribute[starts]], low + 1, np.nextafter(low, np.inf)) < high
    found: Integers = owner[order[starts[~joined & ~(ranged & roomy)]]]
    return found


def _traits(table: PredicateTable) -> npt.NDArray[np.bool_]:
    """By attribute: whether it can contain several members at once, whether its values are ordered without limits, and
    whether they are integers."""
    traits = []
    for name in table.attributes:
        domain = table.catalog.domain_of(name)
        assert domain is not None
        several = domain.kind.wordy or table.catalog.may_be_multiple(name)
        traits.append((several, domain.kind in (Kind.NUMERIC, Kind.TIME), domain.kind is Kind.TIME))
    return np.array(traits).T
