"""Which filters match which events: the `Matcher` contract, the naive matcher that specifies it, and one module per
algorithm."""

from tidings.matching.matcher import Cost, Matcher, Matches

__all__ = ["Cost", "Matcher", "Matches"]
