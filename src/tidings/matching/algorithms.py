"""The algorithms by name. Each is imported on first use, so that small commands start quickly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tidings.errors import MatchingError, expect, suggestion

if TYPE_CHECKING:
    from tidings.matching.algorithm import Algorithm
    from tidings.schema.catalog import Catalog

ALGORITHMS = {
    "default": "tidings.matching.index.box_matcher:BoxMatcher",
    "naive": "tidings.matching.naive_matcher:NaiveMatcher",
    "scan": "tidings.matching.papers.scan:ScanMatcher",
    "counting": "tidings.matching.papers.counting:CountingMatcher",
    "equality-preferred": "tidings.matching.papers.equality_preferred:EqualityPreferredMatcher",
    "quarantine": "tidings.matching.papers.quarantine:QuarantineMatcher",
    "hanson": "tidings.matching.papers.hanson:HansonMatcher",
    "gough": "tidings.matching.papers.gough:GoughMatcher",
    "aguilera": "tidings.matching.papers.aguilera:AguileraMatcher",
    "neon": "tidings.matching.papers.neon:NeonMatcher",
    "typed-tree": "tidings.matching.papers.typed_tree:TypedTreeMatcher",
}
DEFAULT = "default"


class UnknownAlgorithm(MatchingError):
    def __init__(self, name: str) -> None:
        super().__init__(name)

    def __str__(self) -> str:
        return f"no algorithm {self.args[0]!r}{suggestion(self.args[0], tuple(ALGORITHMS))}"


def matcher_class(name: str) -> type[Algorithm]:
    if name not in ALGORITHMS:
        raise UnknownAlgorithm(name)
    module, _, attribute = ALGORITHMS[name].partition(":")
    found: type[Algorithm] = getattr(import_module(module), attribute)
    return found


def make_matcher(name: str, catalog: Catalog) -> Algorithm:
    """A bare algorithm, for callers that manage journal positions; `Matcher` is simpler."""
    from tidings.schema.catalog import Catalog

    expect(name, str, "make_matcher", "name", "the name of an algorithm, such as 'default'")
    expect(catalog, Catalog, "make_matcher", "catalog", "a tidings.Schema")
    return matcher_class(name)(catalog)
