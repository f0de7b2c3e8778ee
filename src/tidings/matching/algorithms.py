"""The algorithms by name. Each is imported only when it is asked for, so that a small command stays quick."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from tidings.errors import MatchingError, suggestion

if TYPE_CHECKING:
    from tidings.matching.matcher import Matcher
    from tidings.schema.catalog import Catalog

ALGORITHMS = {
    "default": "tidings.matching.default:BoxMatcher",
    "naive": "tidings.matching.naive:NaiveMatcher",
    "scan": "tidings.matching.scan:ScanMatcher",
    "counting": "tidings.matching.counting:CountingMatcher",
    "equality-preferred": "tidings.matching.equality_preferred:EqualityPreferredMatcher",
    "quarantine": "tidings.matching.quarantine:QuarantineMatcher",
    "hanson": "tidings.matching.hanson:HansonMatcher",
    "gough": "tidings.matching.gough:GoughMatcher",
    "aguilera": "tidings.matching.aguilera:AguileraMatcher",
    "neon": "tidings.matching.neon:NeonMatcher",
    "typed-tree": "tidings.matching.typed_tree:TypedTreeMatcher",
}
DEFAULT = "default"


class UnknownAlgorithm(MatchingError):
    def __init__(self, name: str) -> None:
        super().__init__(name)

    def __str__(self) -> str:
        return f"no algorithm {self.args[0]!r}{suggestion(self.args[0], tuple(ALGORITHMS))}"


def matcher_class(name: str) -> type[Matcher]:
    if name not in ALGORITHMS:
        raise UnknownAlgorithm(name)
    module, _, attribute = ALGORITHMS[name].partition(":")
    found: type[Matcher] = getattr(import_module(module), attribute)
    return found


def make_matcher(name: str, catalog: Catalog) -> Matcher:
    return matcher_class(name)(catalog)
