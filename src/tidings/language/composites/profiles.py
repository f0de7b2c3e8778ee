"""Application profiles (A-MEDIAS 9.1): a named set of options, set by the operator, which a composite inherits where it
does not say: `[price > 9] before [price < 5] using auctions`. The tree has all of them written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tidings.language.composites.tree import ALL, Select
from tidings.schema.values import Span

Profiles = Mapping[str, str]
"""The options of each, as they are written after an operator: `within 10 min select last, first`."""

_PAIR = "[event.id exists] and [event.id exists] "


class Defaults(NamedTuple):
    """What an operator has that does not say otherwise."""

    within: Span
    select: Select = ALL
    unique: bool = False
    final: bool = False


def read_options(options: str) -> Defaults:
    """Raises LanguageError: there must be a frame, and a `where`, which speaks of parts, cannot be inherited."""
    from tidings.language.composites.parser import parse  # which reads profiles, too
    from tidings.language.composites.tree import Both

    tree = parse(_PAIR + options).tree
    assert isinstance(tree, Both)
    return Defaults(tree.within, tree.select, tree.unique, tree.final)
