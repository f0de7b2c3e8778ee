"""Composite events: patterns in time whose leaves are filters. Text to tree (`parser`), tree against a catalog
(`binder`), text again (`printer`). What an instance of a node is, is said at its class in `tree`; `time_leaves` has
when time events happen."""

from tidings.language.composites.bound import BoundComposite
from tidings.language.composites.parser import parse
from tidings.language.composites.printer import print_composite

__all__ = ["BoundComposite", "parse", "print_composite"]
